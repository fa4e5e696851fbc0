package document

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// rare are inputs that make the parser say what no golden case does.
var rare = []string{
	"a: !%zz b\n",
	"a: !<%zz> b\n",
	"a: !<> b\n",
	"a: !x\"b\"\n",
	"a: !<%ff> b\n",
	"a: !x!%c3%28 b\n",
	"a: !,b\n",
	"a: |0\n b\n",
	"a: \"\\xZZ\"\n",
	strings.Repeat("- ", 12_000) + "a",
}

// TestComplaints holds that the parser still words its errors as the table of
// mistakes expects.
func TestComplaints(t *testing.T) {
	inputs := slices.Clone(rare)
	files, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains("\n"+string(data), "\n%") { // Directives do not reach the parser.
			inputs = append(inputs, string(data))
		}
	}
	met := map[string]bool{}
	for _, input := range inputs {
		var problem string
		decoder := yaml.NewDecoder(strings.NewReader("\n" + input))
		for problem == "" {
			if err := decode(decoder, &yaml.Node{}); err != nil {
				_, problem = complaintOf(err)
			}
		}
		if m := mistakeFor(problem); m.problem != "" {
			met[m.problem] = true
		} else if problem != "EOF" && !strings.Contains(problem, "UTF") && problem != "control characters are not allowed" {
			t.Errorf("%.40q: nothing is known of %q", input, problem)
		}
	}
	for _, m := range mistakes {
		if m.problem != "" && !met[m.problem] {
			t.Errorf("the parser never says %q", m.problem)
		}
	}
}

// TestRareComplaints holds that what is rare is explained as well.
func TestRareComplaints(t *testing.T) {
	for _, input := range rare {
		_, errs := Parse(File{Name: "f.yaml", Data: []byte(input)})
		if len(errs) != 1 || errs[0].Line != 1 || errs[0].Hint == "" {
			t.Errorf("%.40q: %v", input, errs)
		}
	}
}

// TestUnknownComplaint holds that words never heard before reach the user.
func TestUnknownComplaint(t *testing.T) {
	for complaint, want := range map[string]string{
		"yaml: line 3: something new":  "f:2:3: something new; ",
		"yaml: something new":          "f:1:1: something new; ",
		"yaml: line 99: something new": "f:3:1: something new; ",
		"the parser broke":             "f:1:1: the parser broke; ",
	} {
		s, _ := newSource(File{Name: "f", Data: []byte("a: b\n  c: d\n")})
		if err := s.syntaxError(errors.New(complaint), len(s.text)); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q became %q", complaint, err)
		}
	}
}

// TestSyntaxErrorInLargeFile holds that the line is right even where looking
// for the column would take too long.
func TestSyntaxErrorInLargeFile(t *testing.T) {
	rule := "- name: some-rule\n  when: object.spec.replicas > 3\n"
	for name, tc := range map[string]struct {
		broken string
		column int
	}{
		"key":     {" b: c\n", 2},
		"element": {"  - c\n", 3},
		"colon":   {"  a: b: c\n", 7},
		"escape":  {"  a: \"\\d\"\n", 7},
		"bracket": {"  a: [b, c}\n", 11},
		"quote":   {"  a: \"b\n", 6},
	} {
		for _, rules := range []int{0, 10, 1000, 3000} {
			data := strings.Repeat(rule, rules) + "- a: b\n" + tc.broken + "\n# c\n" + strings.Repeat(rule, 10)
			_, errs := Parse(File{Name: "f.yaml", Data: []byte(data)})
			if len(errs) != 1 || errs[0].Line != 2*rules+2 {
				t.Errorf("%s behind %d rules: want line %d, have %v", name, rules, 2*rules+2, errs)
			} else if rules <= 10 && errs[0].Column != tc.column {
				t.Errorf("%s behind %d rules: want column %d, have %v", name, rules, tc.column, errs)
			}
		}
	}
}

func TestBrackets(t *testing.T) {
	cases := map[string]struct {
		text string
		want string // what is left from the mistake on, "closed" if there is none
	}{
		"list":              {"[a, 'b', \"c\", [d], {e: f}] g", "closed"},
		"map":               {"{a: b, 'c': d, \"e\":f, g: {h: [i]}, j}", "closed"},
		"trailing comma":    {"[a, b, ]", "closed"},
		"lines":             {"[a b\n  c, # d ]\n e]", "closed"},
		"quotes":            {`['it''s ]', "\"]"]`, "closed"},
		"a pair in a list":  {"[a: b]", "closed"},
		"a map as key":      {"{{a: b}: c}", "closed"},
		"urls":              {"[http://a:b/c]", "closed"},
		"not closed":        {"[a, b", ""},
		"quote not closed":  {"[a, 'b]", "'b]"},
		"wrong bracket":     {"[a}", "}"},
		"two commas":        {"[a,, b]", ", b]"},
		"two values":        {`["a" b]`, "b]"},
		"a value and a map": {"[a {b: c}]", "{b: c}]"},
		"two colons":        {"{a: b: c}", ": c}"},
		"question":          {"{a: b ? c}", "? c}"},
		"template":          {"{a: ${b}}", "{b}}"},
	}
	for name, tc := range cases {
		scan := flowScan{text: tc.text}
		got := "closed"
		if scan.broken() {
			got = tc.text[scan.pos:]
		}
		if got != tc.want {
			t.Errorf("%s: the mistake in %q is at %q", name, tc.text, got)
		}
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]struct {
		written int
		value   string
	}{
		`\n and more`:  {2, "\n"},
		`\\n`:          {2, `\`},
		`\x41`:         {4, "A"},
		`\u00e9x`:      {6, "é"},
		`\U0001F642`:   {10, "🙂"},
		`\_`:           {2, "\u00a0"},
		`\d`:           {2, ""},
		`\`:            {1, ""},
		`\x4`:          {3, ""},
		`\xzz`:         {4, ""},
		`\ud800`:       {6, ""},
		`\U00110000`:   {10, ""},
		`\uFFFF\uFFFF`: {6, "\uffff"},
	} {
		if written, value := escape(text); written != want.written || value != want.value {
			t.Errorf("%s is %d long and means %q", text, written, value)
		}
	}
}
