package apiserver_test

import (
	"net/url"
	"testing"
)

func TestList(t *testing.T) {
	c := inNew(gadgets(t))
	for _, object := range []struct{ namespace, name, rest string }{
		{"b", "z", `"labels":{"tier":"db"}},"spec":{"size":1,"colour":"red"}`},
		{"a", "y", `"labels":{"tier":"db"}},"spec":{"size":2,"colour":"green"}`},
		{"a", "x", `"labels":{"tier":"web"}},"spec":{"size":3}`},
	} {
		c.play(t, []call{{
			do: "POST /apis/example.com/v1/namespaces/" + object.namespace + "/gadgets", status: 201,
			body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"` + object.name + `",` + object.rest + `}`,
		}})
	}
	const everywhere = "/apis/example.com/v1/gadgets"
	for name, test := range map[string]struct {
		path   string
		query  url.Values
		status int
		want   []string
		reason string
	}{
		"all": {
			path: everywhere, status: 200, want: []string{
				`kind="GadgetList"`, `metadata.resourceVersion="1003"`, `items.length=3`,
				`items.0.metadata.name="x"`, `items.1.metadata.name="y"`, `items.2.metadata.name="z"`,
			},
			reason: "in the order of namespaces and names",
		},
		"a namespace":      {path: all, status: 200, want: []string{`items.length=2`}, reason: "the one of the path"},
		"an empty one":     {path: "/apis/example.com/v1/namespaces/c/gadgets", status: 200, want: []string{`items=[]`}, reason: "nothing is a list, not null"},
		"a longer name":    {path: "/apis/example.com/v1/namespaces/aa/gadgets", status: 200, want: []string{`items=[]`}, reason: "a namespace is no prefix"},
		"by labels":        {path: everywhere, query: url.Values{"labelSelector": {"tier=db"}}, status: 200, want: []string{`items.length=2`}, reason: "a selector"},
		"by sets of them":  {path: everywhere, query: url.Values{"labelSelector": {"tier notin (db)"}}, status: 200, want: []string{`items.length=1`}, reason: "all operators"},
		"by name":          {path: everywhere, query: url.Values{"fieldSelector": {"metadata.name=y"}}, status: 200, want: []string{`items.length=1`}, reason: "all resources have it"},
		"by namespace":     {path: everywhere, query: url.Values{"fieldSelector": {"metadata.namespace=a"}}, status: 200, want: []string{`items.length=2`}, reason: "as well"},
		"by a field":       {path: everywhere, query: url.Values{"fieldSelector": {"spec.colour=red"}}, status: 200, want: []string{`items.length=1`, `items.0.metadata.name="z"`}, reason: "the definition lists it"},
		"by another field": {path: everywhere, query: url.Values{"fieldSelector": {"spec.size=1"}}, status: 400, want: []string{`reason="BadRequest"`, `message="field label not supported: spec.size"`}, reason: "the definition does not"},
		"a bad selector":   {path: everywhere, query: url.Values{"labelSelector": {"("}}, status: 400, reason: "refused"},
		"with a limit":     {path: everywhere, query: url.Values{"limit": {"1"}}, status: 200, want: []string{`items.length=3`, `metadata.continue=""`}, reason: "there are no pages"},
		"of the future":    {path: everywhere, query: url.Values{"resourceVersion": {"2000"}}, status: 504, reason: "it is not there yet"},
		"another version":  {path: "/apis/example.com/v1beta1/gadgets", status: 200, want: []string{`items.0.apiVersion="example.com/v1beta1"`}, reason: "converted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.reason)
			c.play(t, []call{{do: "GET " + test.path + "?" + test.query.Encode(), status: test.status, want: test.want}})
		})
	}
}
