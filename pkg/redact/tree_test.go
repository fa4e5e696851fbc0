package redact_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

func decoded(t *testing.T, text string) any {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBody(t *testing.T) {
	t.Parallel()
	const long = "hunter2-hunter2"
	cases := map[string]struct {
		reason     string
		secret     bool
		body, want string
	}{
		"a Secret": {
			"All values are masked, also short ones, and what there is of them is not.", true,
			`{"data":{"a":"MQ==","b":null},"stringData":{"c":"x"},"type":"Opaque"}`,
			`{"data":{"a":"(masked)","b":null},"stringData":{"c":"(masked)"},"type":"Opaque"}`,
		},
		"another object": {
			"A field of the name is its own.", false,
			`{"data":{"a":"MQ==","b":"` + long + `","c":["` + long + `",1,true,null]}}`,
			`{"data":{"a":"MQ==","b":"(masked)","c":["(masked)",1,true,null]}}`,
		},
		"names": {
			"A rule may name an object by a value.", false,
			`{"apiVersion":"nginx","kind":"nginx","metadata":{"name":"nginx","namespace":"a-nginx","labels":{"nginx":"nginx"}},"name":"nginx"}`,
			`{"apiVersion":"nginx","kind":"nginx","metadata":{"name":"(masked)","namespace":"a-(masked)","labels":{"nginx":"(masked)"}},"name":"(masked)"}`,
		},
		"keys": {
			"Short words are keys.", false,
			`{"nginx":1,"a-` + long + `":{"` + long + `":2}}`, `{"nginx":1,"a-(masked)":{"(masked)":2}}`,
		},
		"last applied": {
			"kubectl keeps all of it.", false,
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`,
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"(masked)"}}}`,
		},
		"steps": {
			"What is done and where stays.", true,
			`[{"op":"add","path":"/data/nginx","value":"MQ=="},{"op":"remove","path":"/data/b"},{"op":"copy","from":"/a","path":"/` + long + `"},` +
				`{"op":"add","path":"/data","value":{"a":"MQ=="}},{"op":"add","path":"/type","value":"nginx"},"nginx"]`,
			`[{"op":"add","path":"/data/nginx","value":"(masked)"},{"op":"remove","path":"/data/b"},{"op":"copy","from":"/a","path":"/(masked)"},` +
				`{"op":"add","path":"/data","value":{"a":"(masked)"}},{"op":"add","path":"/type","value":"(masked)"},"(masked)"]`,
		},
		"steps elsewhere": {
			"Only what was learned.", false,
			`[{"op":"add","path":"/data/a","value":"MQ=="},{"op":"add","path":"/data/b","value":"nginx"}]`,
			`[{"op":"add","path":"/data/a","value":"MQ=="},{"op":"add","path":"/data/b","value":"(masked)"}]`,
		},
		"in a list": {
			"A Secret in something else says so.", false,
			`{"items":[{"apiVersion":"v1","kind":"Secret","data":{"a":"MQ=="}}]}`,
			`{"items":[{"apiVersion":"v1","kind":"Secret","data":{"a":"(masked)"}}]}`,
		},
		"a text":  {"Anything is a body.", false, `"it is nginx"`, `"it is (masked)"`},
		"nothing": {"Nor does this fail.", true, `null`, `null`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := decoded(t, tc.body)
			got := learned(long, "nginx").Body(tc.secret, body)
			if diff := cmp.Diff(decoded(t, tc.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(decoded(t, tc.body), body); diff != "" {
				t.Errorf("the body was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	values := learned("hunter2")
	cause := &fs.PathError{Op: "open", Path: "hunter2", Err: fs.ErrNotExist}
	err := values.Error(fmt.Errorf("doing: %w", cause))
	if want := "doing: open (masked): file does not exist"; err.Error() != want {
		t.Errorf("want %q, got %q", want, err)
	}
	if found, is := errors.AsType[*fs.PathError](err); !is || found != cause || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the chain is broken: %v", found)
	}
	for name, err := range map[string]error{"none": nil, "harmless": errors.New("harmless")} {
		if got := values.Error(err); !errors.Is(got, err) || errors.Unwrap(got) != nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
	var none redact.Values
	if got, is := none.Error(cause).(*fs.PathError); !is || got != cause { //nolint:errorlint // It is not wrapped.
		t.Errorf("nothing is secret, got %v", got)
	}
}

func BenchmarkText(b *testing.B) {
	for _, n := range []int{0, 1, 10_000} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("password-%d", i))
		}
		values := learned(all...)
		values.Text("password")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				values.Text("creating configmaps shop/settings: refused: data: it is password-77 and nothing else")
			}
		})
	}
}
