package simulate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// FuzzRoundTrip says that what is written is read as the same, and that no
// text can break out of its place.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5,null,true,"no","","a\nb","a\n\n"," a\nb"]}`, `"=x"`, `{"":{"":[]}}`, `[[[]],{}]`, `"\u202e"`, `"a\n b\n  c"`,
		`{"` + strings.Repeat("a very long key ", 10) + `":1}`, `"#"`, `"- a"`, `"a: b"`, `"\u0085"`, `1e400`, `1.0000000000001e18`, `-0`, `1E5`,
		`{"? a":"| b"}`, `"---"`, `"..."`, `"a\n---\nb"`, `"a\n...\n"`, `12345678901234567890`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		deep := strings.Count(string(data), "[")+strings.Count(string(data), "{") > 50
		if json.Unmarshal(data, &value) != nil || len(data) > 10_000 || deep {
			t.Skip()
		}
		want := scenario.Plain(value)
		encoded, err := compare.YAML(want)
		if err != nil {
			t.Fatal(err)
		}
		got, errs := parseGolden(document.File{Name: "golden.yaml", Data: encoded})
		if len(errs) > 0 {
			t.Fatalf("%s\n%s", errs.Render(), encoded)
		}
		if lines := compare.Diff(want, got); len(lines) > 0 {
			t.Fatalf("%q\n%s", lines, encoded)
		}
	})
}
