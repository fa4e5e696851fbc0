package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

// learned are values of a Secret whose data are given as they are read.
func learned(values ...string) *redact.Values {
	data := map[string]any{}
	for i, value := range values {
		data[strconv.Itoa(i)] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	out := &redact.Values{}
	out.Learn(map[string]any{"apiVersion": "v1", "kind": "Secret", "data": data})
	return out
}

func TestText(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN KEY-----\nfirst-of-secret\r\n  second-of-secret\n-----END KEY-----\n"
	cases := map[string]struct {
		reason string
		values []string
		text   string
		want   string
	}{
		"none":         {"There is nothing to look for.", nil, "a text", "a text"},
		"as it is":     {"The rest stays.", []string{"hunter2"}, "it is hunter2, twice: hunter2", "it is (masked), twice: (masked)"},
		"encoded":      {"As a Secret has it.", []string{"hunter2"}, "it is aHVudGVyMg==", "it is (masked)"},
		"alone":        {"Nothing but the value.", []string{"hunter2"}, "hunter2", "(masked)"},
		"side by side": {"Each is one.", []string{"hunter2"}, "hunter2hunter2", "(masked)(masked)"},
		"short":        {"Three bytes are found everywhere.", []string{"abc"}, "abc", "abc"},
		"four":         {"Four are a PIN.", []string{"4711"}, "is 4711", "is (masked)"},
		"longest":      {"What one begins with is not left over.", []string{"hunt", "hunter2", "hunter2-x"}, "hunter2-y", "(masked)-y"},
		"overlap":      {"No tail of another is left.", []string{"abcdef", "defghi"}, "-abcdefghi-", "-(masked)-"},
		"chain":        {"Nor of several.", []string{"abcd", "defg", "ghij"}, "abcdefghij", "(masked)"},
		"within":       {"One in another.", []string{"abcdefgh", "cdef"}, "abcdefgh cdef", "(masked) (masked)"},
		"JSON":         {"Quoted.", []string{"a\"b\\c\n<d>"}, `{"a":"a\"b\\c\n<d>"}`, `{"a":"(masked)"}`},
		"HTML":         {"As Go quotes by itself.", []string{"a<b>c&d"}, `a\u003cb\u003ec\u0026d`, `(masked)`},
		"twice":        {"JSON in JSON.", []string{`pa"ss`}, `"{\"a\":\"pa\\\"ss\"}"`, `"{\"a\":\"(masked)\"}"`},
		"upper case":   {"Escapes are in upper case then.", []string{"ab\tcd-secret\x07"}, `"AB\TCD-SECRET\U0007"`, `"(masked)"`},
		"quoted again": {"YAML in YAML has four quotes.", []string{"it's #secret"}, `a: ''it''''s #secret''`, `a: ''(masked)''`},
		"Go":           {"As %q has it.", []string{"\x07bell"}, `want "\abell"`, `want "(masked)"`},
		"YAML":         {"As toYAML quotes.", []string{"'it's"}, "a: '''it''s'", "a: '(masked)'"},
		"line":         {"Each line of a key.", []string{key}, "it has first-of-secret and second-of-secret", "it has (masked) and (masked)"},
		"frame":        {"What all keys begin with is none.", []string{key}, "-----BEGIN KEY-----", "-----BEGIN KEY-----"},
		"short line":   {"A short line is in every file.", []string{"a: 1\nb: 234\n"}, "with b: 234", "with b: 234"},
		"trimmed":      {"A tool ended it with a line break.", []string{"pass\n"}, "pass", "(masked)"},
		"setting":      {"A file of settings.", []string{"USER=me\nPASSWORD=\"hunter2-hunter2\"\n"}, "hunter2-hunter2", "(masked)"},
		"YAML file":    {"Another one.", []string{"a:\n  password: hunter2-hunter2\n"}, "is hunter2-hunter2", "is (masked)"},
		"JSON file":    {"Logins of registries.", []string{`{"auths":{"a":[{"password":"hunter2-hunter2"}]}}`}, "hunter2-hunter2", "(masked)"},
		"no JSON":      {"It only begins so.", []string{`{"auths`}, `{"auths`, "(masked)"},
		"word":         {"Words that are everywhere.", []string{"true", "null", "none"}, "true null none", "true null none"},
		"case":         {"A name is in lower case, and a variable in upper case.", []string{"Hunter2"}, "hunter2 HUNTER2", "(masked) (masked)"},
		"any case":     {"A word is one in any case.", []string{"True", "NONE"}, "true none", "true none"},
		"long letters": {"What is not ASCII stays as long as it is.", []string{"pÄssİwort"}, "İ: pÄSSİWORT!", "İ: (masked)!"},
		"path":         {"In an address.", []string{"it is #1!"}, `Get "/api/v1/pods/it%20is%20%231%21": EOF`, `Get "/api/v1/pods/(masked)": EOF`},
		"query":        {"In its parameters.", []string{"a=b&c d"}, "labelSelector=a%3Db%26c+d", "labelSelector=(masked)"},
		"pointer":      {"In a JSON patch.", []string{"ab/cd~ef"}, "/data/ab~1cd~0ef", "/data/(masked)"},
		"not UTF-8":    {"Bytes are bytes.", []string{"\xff\xfe\xfd\xfc"}, "a\xff\xfe\xfd\xfcb", "a(masked)b"},
		"cut":          {"What is there in part is not the value.", []string{"hunter2-hunter2"}, "hunter2", "hunter2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := learned(tc.values...).Text(tc.text); got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestLearn(t *testing.T) {
	t.Parallel()
	patch := func(op, path string, value any) any {
		return []any{map[string]any{"op": op, "path": path, "value": value}}
	}
	cases := map[string]struct {
		reason string
		secret any
		text   string
		want   bool
	}{
		"stringData":   {"It is written plain.", map[string]any{"stringData": map[string]any{"a": "hunter2"}}, "aHVudGVyMg==", true},
		"no base64":    {"What the API server refuses is no less secret.", map[string]any{"data": map[string]any{"a": "hunter2!"}}, "hunter2!", true},
		"type":         {"The rest is none.", map[string]any{"type": "Opaque"}, "Opaque", false},
		"not a map":    {"Nothing is ruled out.", map[string]any{"data": []any{"hunter2"}, "stringData": nil}, "hunter2", false},
		"null":         {"A value is removed.", map[string]any{"data": map[string]any{"a": nil}}, "null", false},
		"step":         {"A JSON patch.", patch("add", "/data/a", "aHVudGVyMg=="), "hunter2", true},
		"whole field":  {"It may write all.", patch("add", "/stringData", map[string]any{"a": "hunter2"}), "hunter2", true},
		"another step": {"Or something else.", patch("add", "/metadata/labels/a", "hunter2"), "hunter2", false},
		"no step":      {"Nothing is ruled out.", []any{"data", nil, map[string]any{"path": 1}}, "data", false},
		"nothing":      {"Nor this.", nil, "null", false},
		"copy": {"kubectl keeps what was before.", map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"a":"aHVudGVyMg=="}}`,
		}}}, "hunter2", true},
		"no copy": {"It may be anything.", map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": `{"data":`,
		}}}, "data", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var values redact.Values
			values.Learn(tc.secret)
			if got := values.Text(tc.text) != tc.text; got != tc.want {
				t.Errorf("%s\nmasked: %v", tc.reason, got)
			}
			if values.Empty() == tc.want {
				t.Errorf("%s\nempty: %v", tc.reason, values.Empty())
			}
		})
	}
}

func TestLearnField(t *testing.T) {
	t.Parallel()
	var values redact.Values
	values.LearnField("data", "aHVudGVyMg==")
	values.LearnField("stringData", map[string]any{"a": "swordfish"})
	values.LearnField("type", "Opaque")
	if got, want := values.Text("hunter2 swordfish Opaque"), "(masked) (masked) Opaque"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestExcept(t *testing.T) {
	t.Parallel()
	values := learned("Nginx", "nginx-password")
	values.Except("nginx")
	values.Except("Nginx", "other")
	if got, want := values.Text("pod nginx: nginx-password"), "pod nginx: (masked)"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	values := learned("admin", "hunter2-hunter2")
	for name, want := range map[string]string{"admin": "admin", "administrator-x": "administrator-x", "a-hunter2-hunter2": "a-(masked)"} {
		if got := values.Key(name); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// TestLearnsAfterAnAnswer says that what is learned later is masked too.
func TestLearnsAfterAnAnswer(t *testing.T) {
	t.Parallel()
	values := learned("hunter2")
	values.Text("hunter2")
	values.Learn(map[string]any{"stringData": map[string]any{"a": "swordfish"}})
	if got := values.Text("hunter2 swordfish"); got != "(masked) (masked)" {
		t.Errorf("got %q", got)
	}
}

func TestStandIns(t *testing.T) {
	t.Parallel()
	var zero redact.Values
	for name, tc := range map[string]struct {
		reason    string
		one, same string
	}{
		"zero":        {"It tells nothing.", zero.Mask("a"), zero.Mask("b")},
		"plain":       {"Nor is this.", redact.New(redact.Plain).Mask("a"), "(masked)"},
		"fingerprint": {"It is the same for the same value.", redact.New(redact.Fingerprint).Mask("aHVudGVyMg=="), "(masked b073aefd)"},
	} {
		if tc.one != tc.same {
			t.Errorf("%s: %s have %q and %q", name, tc.reason, tc.one, tc.same)
		}
	}
	if redact.Fingerprint("a") == redact.Fingerprint("b") {
		t.Error("a fingerprint does not tell values apart")
	}
}

// TestTooMuch says that what cannot be looked for in a bounded time is not shown at all.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	t.Run("values", func(t *testing.T) {
		t.Parallel()
		var lines strings.Builder
		for i := range 300_000 {
			fmt.Fprintf(&lines, "a-line-%d\n", i)
		}
		values := learned(lines.String())
		if got := values.Text("harmless"); got != "(masked)" || values.Empty() {
			t.Errorf("got %q", got)
		}
	})
	t.Run("work", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("a", 1<<20)
		if got := learned(long + "b").Text(long); got != "(masked)" {
			t.Errorf("a text of %d bytes came back", len(got))
		}
	})
}

// FuzzText says that nothing of a value is left between what stands for values, in whatever
// spelling it was there.
func FuzzText(f *testing.F) {
	f.Add("hunter2", "swordfish", "it is %s, and ", "not hunter2swordfish")
	f.Add("abcdef", "defghi", "abcdefghi", "")
	f.Add("pa\"ss\\word\n<'>", "\x07\xff  line-of-it\n", "{\"a\":\"", "\"}")
	f.Add("masked", "(masked)", "d)", "(mask")
	f.Add("{\"password\":\"hunter2-hunter2\"}", "a: hunter2-hunter2", "hunter2-", "hunter2")
	f.Fuzz(func(t *testing.T, one, other, before, after string) {
		values := learned(one, other)
		var all []string
		for _, value := range []string{one, other} {
			for _, spelled := range spelled(value) {
				all = append(all, spelled, spelled+before, after+spelled)
			}
		}
		text := before + strings.Join(all, "") + after
		parts := strings.Split(values.Text(text), "(masked)")
		for _, value := range []string{one, other} {
			if len(value) < 4 || value == "true" || value == "null" || value == "none" || value == "false" || strings.Contains(value, "-----") {
				continue
			}
			for _, spelling := range spelled(value) {
				if strings.Contains("(masked)", spelling) || strings.Contains(spelling, "(masked)") {
					continue // It tells nothing, or is not found where parts begin and end.
				}
				for _, part := range parts {
					if strings.Contains(part, spelling) {
						t.Errorf("%q is left in %q", spelling, part)
					}
				}
			}
		}
		values.Key(text)
		values.Tree(map[string]any{"kind": "Secret", before: text})
	})
}

// spelled is a value as rules and errors write it.
func spelled(value string) []string {
	once := func(value string) []string {
		inJSON, _ := json.Marshal(value)
		return []string{value, string(inJSON[1 : len(inJSON)-1]), strings.Trim(strconv.Quote(value), `"`)}
	}
	out := []string{base64.StdEncoding.EncodeToString([]byte(value))}
	for _, text := range once(value)[:2] {
		out = append(out, once(text)[:2]...)
	}
	return out
}

// TestLearnFrom holds that what others know is masked as what was learned, and that nothing
// is given back.
func TestLearnFrom(t *testing.T) {
	others := redact.New(redact.Fingerprint)
	others.Learn(map[string]any{"data": map[string]any{"password": "c3dvcmRmaXNo"}})
	values := redact.New(redact.Plain)
	if values.LearnFrom(nil); !values.Empty() {
		t.Error("nothing to learn is learned")
	}
	if values.Text("asked before") != "asked before" {
		t.Error("what nobody knows is masked")
	}
	values.LearnFrom(others)
	if got := values.Text("it is swordfish, or c3dvcmRmaXNo"); got != "it is (masked), or (masked)" {
		t.Errorf("have %q", got)
	}
	values.Learn(map[string]any{"data": map[string]any{"password": "Y2FuYXJ5"}})
	if got := others.Text("canary"); got != "canary" {
		t.Errorf("the others have learned too: %q", got)
	}
	values = redact.New(redact.Plain)
	values.LearnFrom(redact.Everything(redact.Plain))
	if got := values.Text("anything"); got != "(masked)" {
		t.Errorf("who does not know everything shows nothing, have %q", got)
	}
}

// TestQuoted holds that a value is found in what quotes it, whatever characters it has: those of Go, JSON and toYAML, twice and mixed too.
func TestQuoted(t *testing.T) {
	t.Parallel()
	asJSON := func(value string) string {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	asYAML := func(value string) string {
		data, err := compare.YAML(map[string]string{"a": value})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const head, tail = "the-hunter-", "-is-hunted" // Lines that are long enough to be looked for alone.
	var characters []string
	for code := range rune(0x3001) {
		if code < 0x250 || code >= 0x2000 && code < 0x2070 || code == 0x3000 { // Where characters are that something quotes.
			characters = append(characters, string(code))
		}
	}
	for _, code := range []rune{0xd7ff, 0xe000, 0xfdd0, 0xfeff, 0xfffc, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1f600, 0xe0001, 0x10ffff} {
		characters = append(characters, string(code))
	}
	characters = append(characters, "\u2028\u200b", "\u0085\u202e'\"", "\x07é\u2029", "\\u2028", "\\", "\\\\n", "\xff", "\xc3(", `\L`)
	for _, character := range characters {
		value := head + character + tail
		values := learned(value)
		for name, text := range map[string]string{
			"as it is": "it is " + value, "Go": strconv.Quote("it is " + value), "ASCII of Go": strconv.QuoteToASCII(value),
			"JSON": asJSON("it is " + value), "JSON in JSON": asJSON(asJSON(value)), "Go of JSON": strconv.Quote(asJSON(value)),
			"YAML": asYAML("it is " + value), "YAML that has to be quoted": asYAML("\x07: '" + value), "YAML in JSON": asJSON(asYAML(value)),
			"JSON in YAML": asYAML(asJSON(value)), "YAML in YAML": asYAML("\u2028" + asYAML(value)), "YAML in YAML in Go": strconv.Quote(asYAML(asYAML(value))),
		} {
			if shown := values.Text(text); strings.Contains(shown, head) || strings.Contains(shown, tail) {
				t.Errorf("%s: of %+q, %+q is shown as %+q", name, value, text, shown)
			}
		}
	}
}

// TestConcurrentUse holds, with the race detector, that all may ask at once from the first time on.
func TestConcurrentUse(t *testing.T) {
	values := learned("hunter22")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got := values.Text("it is hunter22"); strings.Contains(got, "hunter22") {
				t.Errorf("it is shown: %s", got)
			}
		})
	}
	all.Wait()
}
