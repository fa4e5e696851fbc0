package projection_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// checkDecode fails unless a document decodes as the normal decoder does it, projected.
func checkDecode(t interface {
	Helper()
	Errorf(format string, args ...any)
}, fields *projection.Fields, document []byte,
) {
	t.Helper()
	given := string(document)
	var whole map[string]any
	wantErr := utiljson.Unmarshal(document, &whole)
	got, err := fields.Decode(document)
	switch {
	case wantErr != nil || whole == nil:
		if err == nil {
			t.Errorf("%q with %q: got %v, but the normal decoder says %v", document, fields, got, wantErr)
		}
		return
	case err != nil:
		t.Errorf("%q with %q: %v, but it is an object", document, fields, err)
		return
	}
	if string(document) != given {
		t.Errorf("%q has become %q", given, document)
	}
	clear(document) // As for the next frame.
	want := fields.Project(whole)
	if fields != nil && len(given) < 10_000 { // JSON has one kind of numbers.
		data, err := json.Marshal(got)
		if err == nil {
			got = nil
			err = utiljson.Unmarshal(data, &got)
		}
		if err != nil {
			t.Errorf("%v: %v", got, err)
		}
	}
	parseFieldSets(want)
	parseFieldSets(got)
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%q with %q (-want +got):\n%s", given, fields, cmp.Diff(want, got))
	}
}

// parseFieldSets replaces the text of fieldsV1, which may be spaced in two ways, by what it says.
func parseFieldSets(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, element := range entries {
		entry, _ := element.(map[string]any)
		text, _ := entry["fieldsV1"].(string)
		if set := map[string]any(nil); strings.HasPrefix(text, "{") && utiljson.Unmarshal([]byte(text), &set) == nil {
			entry["fieldsV1"] = set
		}
	}
}

// documents are what decoders disagree about.
func documents() []string {
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n) + "1" + strings.Repeat("]}", n) }
	return []string{
		`{}`, ` { "a" : [ ] , "b" : { } } `, `{"a":{"b":1,"c":2},"b":[1,2,3]}`, `{"a":null,"b":true,"c":false}`, "\t{\r\n}\n",
		``, ` `, `null`, `[]`, `1`, `"a"`, `true`, `nul`, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a"}`,
		`{"a":[1,]}`, `{"a":[,]}`, `{"a":[1`, `{"a":[1}`, `{"a":[1 2]}`, `{"a":1]`, `{"a":1}}`, `{"a":1} x`, `{"a":1}{"a":2}`, "{\"a\":1}\x00", "{}\x00",
		`{"c":[1,]}`, `{"c":{"x":1,}}`, `{"c":nul}`, `{"c":tru}`, `{"c":falsy}`, `{"c":[}`, `{"c":{]}`, `{'a':1}`, `{a:1}`, `{1:1}`, `{"c":{1:1}}`,
		`{"a":1,"a":2}`, `{"a":{"b":1},"a":{"c":1}}`, `{"a":{"b":1},"a":null}`, `{"c":1,"c":2}`, `{"A":1,"a":2}`, `{"a":1,"A":{"b":2}}`, `{"":1}`,
		`{"a":-0}`, `{"a":-0.0}`, `{"a":1.0}`, `{"a":1e3}`, `{"a":1E+3}`, `{"a":1e-3}`, `{"a":9223372036854775807}`, `{"a":9223372036854775808}`,
		`{"a":-9223372036854775808}`, `{"a":-9223372036854775809}`, `{"a":1e999}`, `{"c":1e999}`, `{"c":-1e999}`, `{"a":1e-999}`,
		`{"c":` + strings.Repeat("9", 400) + `}`, `{"a":01}`, `{"c":01}`, `{"c":-}`, `{"c":1.}`, `{"c":.1}`, `{"c":1e}`, `{"c":+1}`, `{"c":0x1}`, `{"a":1_0}`,
		`{"a":"\u0041\n\"\\\/"}`, `{"\u0061":{"\u0062":1}}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":"\udc00x"}`, `{"c":"\u00"}`, `{"c":"\x"}`, `{"c":"\`,
		`{"c":"\u00zz"}`, `{"a":"ü€😀"}`, `{"ü":1}`, "{\"a\":\"\xff\"}", "{\"\xff\":1}", "{\"c\":\"\xff\"}", "{\"a\":\"\n\"}", "{\"c\":\"\x1f\"}", "{\"c\":\"12345678\x01\"}",
		"{\"a\":\"\x7f\u2028\"}", `{"c":"1234567\"","a":"1234567\""}`, `{"c":"12345678","a":"123456789"}`,
		`{"a":` + deep(400) + `}`, `{"c":` + deep(400) + `}`, `{"c":` + deep(4999) + `}`, `{"c":` + deep(5001) + `}`, `{"a":` + deep(4999) + `}`,
		`{"metadata":{"name":"n","managedFields":[{"manager":"kubectl","operation":"Update","fieldsV1":{"f:a":{}}}]}}`,
		`{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}},"operation":"Apply","manager":"dyncontroller/1"},{"manager":"k"},null,1,"s",[{}],{}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1"}],"managedFields":[{}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1","manager":"x"}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller\u002f1","a":[1,{"b":null}]}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1","fieldsV1": {"f:a" : { } ,"k:{\"a\":1}":{"ü<":[1]}}}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1","fieldsV1":{"f:a":}}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1","fieldsV1":{"f:a":1e999}}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1","fieldsV1":[{"a":"b"}]}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1","fieldsV1":null,"fieldsV1":"text"}]}}`,
		`{"metadata":{"managedFields":[{"operation":"Apply","manager":"dyncontroller/1","fieldsV1":{"a"`,
		`{"metadata":{"managedFields":{"manager":"dyncontroller/1","operation":"Apply"}}}`, `{"metadata":{"managedFields":"text"}}`, `{"metadata":[{"name":1}]}`,
		`{"metadata":"text","kind":{"a":1},"apiVersion":[1]}`, `{"a":{"kind":"x","apiVersion":"y","b":1}}`, `{"a":["a","b",{"a":1},["a"]]}`,
	}
}

func trees() []*projection.Fields {
	return []*projection.Fields{
		nil, fields(), fields(value("a")), fields(exists("a"), length("b")), fields(value("a.b"), value("b.[*].a")), fields(value("*")), fields(length("")),
		fields(value("a.*.b"), value("b.0")), fields(exists("a.a"), value("metadata.managedFields.[*].manager")), fields(value("metadata")), fields(length("a.[*]")),
	}
}

func TestDecode(t *testing.T) {
	for _, document := range documents() {
		for _, fields := range trees() {
			checkDecode(t, fields, []byte(document))
		}
	}
}

// TestDecodeGenerated is TestDecode for trees and objects that are generated, and cut off somewhere.
func TestDecodeGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document := asJSON(t, drawObject(t))
		fields := projection.New(tree(drawReads(t, "reads")...))
		checkDecode(t, fields, []byte(document))
		checkDecode(t, fields, []byte(document[:rapid.IntRange(0, len(document)).Draw(t, "cut")]))
	})
}

func FuzzDecode(f *testing.F) {
	for i, document := range documents() {
		f.Add([]byte(document), strings.Join([]string{"a.b", "metadata", "a.[*].b b", "* a", ""}[i%5:], " "), uint8(i))
	}
	f.Fuzz(func(t *testing.T, document []byte, paths string, strength uint8) {
		reads := &footprint.Tree{}
		for i, path := range strings.SplitN(paths, " ", 10) {
			if len(path) > 0 {
				reads.Add(at(footprint.Exists, path).path, footprint.Exists+footprint.Strength(int(strength)+i)%footprint.Value)
			}
		}
		checkDecode(t, nil, bytes.Clone(document))
		checkDecode(t, projection.New(reads), document)
	})
}

// TestDecodeConcurrently holds that fields, and what they share, can be used at the same time.
func TestDecodeConcurrently(t *testing.T) {
	kept := threeFields()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 200 {
				checkDecode(t, kept, []byte(tidbCluster(i)))
			}
		})
	}
	wait.Wait()
}
