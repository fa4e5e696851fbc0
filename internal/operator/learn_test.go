package operator

import (
	"maps"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// described are resources, each with the one field that it has; with none nothing is known
// of it.
type described map[apischema.GroupVersionResource]string

func (d described) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	field, served := d[gvr]
	if !served {
		return nil
	}
	out := &schema.Resource{GroupVersionResource: gvr, Type: schema.Open()}
	if field != "" {
		fields := map[string]schema.Field{field: {Type: &schema.Type{Kinds: value.Int}}}
		out.Type = &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: fields}}
	}
	return out
}

func (described) Resources() []schema.Name { return nil }
func (described) Whole(string) bool        { return true }

var (
	configs  = apischema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	services = apischema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// TestLearned holds what is another schema.
func TestLearned(t *testing.T) {
	both := []apischema.GroupVersionResource{services, configs}
	for name, tc := range map[string]struct {
		reason string
		said   []described
		want   []apischema.GroupVersionResource // of what is said last
	}{
		"first":       {"Nobody has read it by another one.", []described{{configs: "a"}}, nil},
		"same":        {"It is told again.", []described{{configs: "a"}, {configs: "a"}}, nil},
		"other":       {"It is another one.", []described{{configs: "a", services: "a"}, {configs: "b", services: "a"}}, []apischema.GroupVersionResource{configs}},
		"both":        {"Each is another one.", []described{{configs: "a", services: "a"}, {configs: "b", services: "b"}}, []apischema.GroupVersionResource{configs, services}},
		"once":        {"It is told again.", []described{{configs: "a"}, {configs: "b"}, {configs: "b"}}, nil},
		"back":        {"It is again what it was.", []described{{configs: "a"}, {configs: "b"}, {configs: "a"}}, []apischema.GroupVersionResource{configs}},
		"comes":       {"It is new.", []described{{}, {configs: "a"}}, nil},
		"goes":        {"Its caches find out.", []described{{configs: "a"}, {}}, nil},
		"undescribed": {"Nothing is known of it for a while.", []described{{configs: "a"}, {configs: ""}}, nil},
		"as before":   {"It is as it was before nothing was known.", []described{{configs: "a"}, {configs: ""}, {}, {configs: "a"}}, nil},
		"meanwhile":   {"It has changed while nothing was known.", []described{{configs: "a"}, {configs: ""}, {}, {configs: "b"}}, []apischema.GroupVersionResource{configs}},
		"at last":     {"It was there before it was described.", []described{{configs: ""}, {configs: "a"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var l learned
			var got []apischema.GroupVersionResource
			for _, said := range tc.said {
				got = l.changed(said, both)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	var l learned
	l.changed(described{configs: "a"}, both[:1])
	if got := l.changed(described{configs: "b"}, both[1:]); got != nil {
		t.Errorf("what was not asked about is not known, got %v", got)
	}
}

// TestLearn holds that rules of all tenants see what another schema shows, and that nobody
// else is disturbed.
func TestLearn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		k.files(paints("own", "", "red"))
		defer k.start()()
		k.setObjects(asObject(t, paints("anns", "ann", "red")), asObject(t, paintsServices("more", "ann")))
		k.pass(20 * moment)
		// lists are the requests to list or watch: of ConfigMaps as both, and of Services.
		lists := func() []int {
			k.pass(moment)
			return []int{k.read("GET configmaps/shop"), k.read("shop/ann GET configmaps/shop"), k.read("shop/ann GET services/shop")}
		}
		before := lists()
		said := described{configs: "a", services: "a"}
		wanted := []apischema.GroupVersionResource{configs, services}
		for range 2 {
			k.Learn(said, wanted)
		}
		if diff := cmp.Diff(before, lists()); diff != "" || before[0] == 0 || before[1] == 0 || before[2] == 0 {
			t.Errorf("nothing has changed, requests (-want +got):\n%s", diff)
		}

		k.reshape("configmaps", "shop", "a", map[string]any{"data": map[string]any{}})
		k.Learn(described{configs: "b", services: "a"}, wanted)
		after := lists()
		if after[0] == before[0] || after[1] == before[1] || after[2] != before[2] {
			t.Errorf("requests before %v, and after %v", before, after)
		}
		data, _ := k.field("configmaps", "shop", "a", "data").(map[string]any)
		if diff := cmp.Diff(map[string]any{"own": "red", "anns": "red"}, data); diff != "" {
			t.Errorf("the rules do not see it (-want +got):\n%s", diff)
		}
		if !k.log.says("the schema has changed, the caches are filled anew") {
			t.Errorf("it is not told:\n%s", k.log)
		}
	})
}

// read is how often something was read, as of [world.RoundTrip].
func (w *world) read(what string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.reads {
		if line == what {
			n++
		}
	}
	return n
}

// reshape has other fields of an object shown that nobody has written, as another schema
// does.
func (w *world) reshape(resource, namespace, name string, fields map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := target{resource: resource, namespace: namespace, name: name}.key()
	object := maps.Clone(w.objects[key])
	maps.Copy(object, fields)
	w.objects[key] = object
}
