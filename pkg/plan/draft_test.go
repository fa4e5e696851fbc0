package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/test/generate"
)

// byLibrary applies a patch with the library that the API server uses. It panics where a list with a null is tested.
func byLibrary(t rapid.TB, current map[string]any, body any) (after any, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			after, ok = nil, false
		}
	}()
	patch, err := jsonpatch.DecodePatch([]byte(encode(t, body)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := patch.Apply([]byte(encode(t, current)))
	if err != nil {
		return nil, false
	}
	if err := json.Unmarshal(data, &after); err != nil {
		t.Fatal(err)
	}
	return after, true
}

// patchedAlike holds that a patch does what the library makes of it, and changes nothing that it was made from.
func patchedAlike(t *rapid.T) {
	places := []any{"/a", "/a/b", "/a/b/0", "/l", "/l/0", "/l/1", "/l/-", "/l/01", "/l/0/b", "/a/n", "/n/x", "/s/0", "/x~1y", "/a/"}
	values := []any{nil, int64(1), 2.5, "text", []any{}, []any{int64(1), map[string]any{"b": true}}, map[string]any{}, map[string]any{"b": []any{"c"}}}
	current := map[string]any{"n": nil, "s": "text", "x/y": map[string]any{"b": int64(1)}}
	for _, key := range []string{"a", "l"} {
		current[key] = rapid.SampledFrom(values).Draw(t, key)
	}
	var body []any
	for range rapid.IntRange(1, 6).Draw(t, "operations") {
		o := map[string]any{"path": rapid.SampledFrom(places).Draw(t, "path")}
		switch o["op"] = rapid.SampledFrom([]any{"add", "replace", "test", "remove", "copy", "move"}).Draw(t, "op"); o["op"] {
		case "add", "replace", "test":
			o["value"] = rapid.SampledFrom(values).Draw(t, "value")
		case "copy", "move":
			o["from"] = rapid.SampledFrom(places).Draw(t, "from")
		}
		body = append(body, o)
	}
	objectBefore, bodyBefore := encode(t, current), encode(t, body)
	want, wanted := byLibrary(t, current, body)
	got, err := jsonPatched(current, body)
	if encode(t, current) != objectBefore || encode(t, body) != bodyBefore {
		t.Fatalf("%s on %s changed it to %s on %s", bodyBefore, objectBefore, encode(t, body), encode(t, current))
	}
	switch {
	case wanted && err != nil:
		t.Fatalf("%s on %s fails: %v", bodyBefore, objectBefore, err)
	case wanted && encode(t, got) != encode(t, want):
		t.Fatalf("%s on %s gives %s, want %s", bodyBefore, objectBefore, encode(t, got), encode(t, want))
	case !wanted && err == nil && !strings.Contains(bodyBefore, `"test"`):
		t.Fatalf("%s on %s gives %s and must fail", bodyBefore, objectBefore, encode(t, got))
	}
}

func TestPatchedAlike(t *testing.T) { rapid.Check(t, patchedAlike) }

// FuzzPatchedAlike has go test -fuzz look for a difference.
func FuzzPatchedAlike(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(patchedAlike))
}

// TestPatchFailures holds what is said of a patch that cannot be applied.
func TestPatchFailures(t *testing.T) {
	const object = `{a: {b: 1, l: [1, null]}, s: text}`
	for patch, want := range map[string]string{
		`[{op: remove, path: /a/x}]`:                                             "operation 0 of the json patch, remove: there is no a.x",
		`[{op: remove, path: /a/l/2}]`:                                           "operation 0 of the json patch, remove: there is no a.l[2]",
		`[{op: add, path: /x/y, value: 1}]`:                                      "operation 0 of the json patch, add: there is no x",
		`[{op: add, path: /s/y, value: 1}]`:                                      "operation 0 of the json patch, add: there is no s.y",
		`[{op: add, path: /a/l/3, value: 1}]`:                                    "operation 0 of the json patch, add: there is no a.l[3]",
		`[{op: replace, path: /a/l/-, value: 1}]`:                                `operation 0 of the json patch, replace: there is no a.l["-"]`,
		`[{op: move, from: /a, path: /a/b}]`:                                     "operation 0 of the json patch, move: there is no a",
		`[{op: copy, from: /a/l/x, path: /b}]`:                                   "operation 0 of the json patch, copy: there is no a.l.x",
		`[{op: test, path: /a/b, value: 1}, {op: test, path: /a/l, value: [1]}]`: "operation 1 of the json patch, test: a.l has another value",
	} {
		if _, err := jsonPatched(decode[map[string]any](t, object), decode[any](t, patch)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", patch, err, want)
		}
	}
}

// TestPatchOfNothing holds that there is an object to write to, even if it is empty.
func TestPatchOfNothing(t *testing.T) {
	after, err := jsonPatched(nil, decode[any](t, `[{op: test, path: /a, value: null}, {op: add, path: /a, value: {b: null}}]`))
	if want := map[string]any{"a": map[string]any{"b": nil}}; err != nil || !reflect.DeepEqual(after, want) {
		t.Errorf("%v, %v", after, err)
	}
}

// TestPatchIsBounded holds that no patch makes much of little.
func TestPatchIsBounded(t *testing.T) {
	long := strings.Repeat("/a", maxPointer+1)
	for name, body := range map[string]any{
		"copies of copies": decode[any](t, copyBomb(40)),
		"a long pointer":   []any{map[string]any{"op": "add", "path": long, "value": int64(1)}},
	} {
		if _, err := jsonPatched(map[string]any{"spec": map[string]any{"a": "text"}}, body); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
