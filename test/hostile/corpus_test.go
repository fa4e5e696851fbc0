package hostile_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// TestCases holds that the corpus is as large as it is said to be, and that every case can be written out and found.
func TestCases(t *testing.T) {
	cases, err := hostile.Cases()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	count := map[hostile.Kind]int{}
	for _, c := range cases {
		if seen[c.Name] {
			t.Errorf("there are two cases %q", c.Name)
		}
		seen[c.Name] = true
		if text, err := c.Text(); err != nil || text == "" {
			t.Errorf("%s: a text of %d bytes, error %v", c.Name, len(text), err)
		}
		if found, err := hostile.Find(c.Name); err != nil || found != c {
			t.Errorf("found %v, %v, want %v", found, err, c)
		}
		if !c.Legitimate {
			count[c.Kind]++
		}
	}
	const leastExpressions, leastDocuments, leastTyped = 80, 60, 9
	if count[hostile.Expression] < leastExpressions || count[hostile.Document] < leastDocuments || count[hostile.Template] == 0 ||
		count[hostile.Typed] < leastTyped {
		t.Errorf("the corpus has only %v", count)
	}
	if len(count) != 4 || len(cases) == count[hostile.Expression]+count[hostile.Document]+count[hostile.Template]+count[hostile.Typed] {
		t.Errorf("of the kinds %v one is unknown, or nothing is legitimate", count)
	}
	if _, err := hostile.Find("nothing"); err == nil {
		t.Error("found what is not there")
	}
}

// TestText holds what the notation of the cases means.
func TestText(t *testing.T) {
	c, err := hostile.Find("expression-sizes/half a million brackets")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := c.Text(); err != nil || len(text) != 500_000 || text[0] != '(' {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestShorten(t *testing.T) {
	long := make([]byte, 1000)
	for i := range long {
		long[i] = 'a'
	}
	if got := hostile.Shorten(string(long)); len([]rune(got)) != 160 {
		t.Errorf("%d runes are left", len([]rune(got)))
	}
	if got := hostile.Shorten("two\n\n lines"); got != "two lines" {
		t.Errorf("have %q", got)
	}
}
