package check_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// TestBadPaths goes where there is nothing, or may be nothing.
func TestBadPaths(t *testing.T) {
	checkMistakes(t, map[string]mistake{
		"a parent that may be absent":     {"object.spec.tikv.replicas > 1", 17, "replicas", "may-be-absent", "object.spec.tikv may be absent, so object.spec.tikv.replicas cannot be read", "write object.spec.tikv?.replicas, which is nil then"},
		"behind an or":                    {"object.spec.tikv != nil || object.spec.tikv.replicas > 1", 44, "replicas", "may-be-absent", "object.spec.tikv may be absent, so object.spec.tikv.replicas cannot be read", "write object.spec.tikv?.replicas, which is nil then"},
		"in the wrong branch":             {"hasTikv ? 1 : object.spec.tikv.replicas", 31, "replicas", "may-be-absent", "object.spec.tikv may be absent, so object.spec.tikv.replicas cannot be read", "write object.spec.tikv?.replicas, which is nil then"},
		"a let that may be nil":           {"tikv.replicas > 1", 5, "replicas", "may-be-absent", "tikv may be absent, so tikv.replicas cannot be read", "write tikv?.replicas, which is nil then"},
		"a variable that may be nil":      {"let t = object.spec.tikv; t.replicas", 28, "replicas", "may-be-absent", "t may be absent, so t.replicas cannot be read", "write t?.replicas, which is nil then"},
		"a name that may be nil":          {"other.spec.pd.replicas", 6, "spec", "may-be-absent", "other may be absent, so other.spec cannot be read", "write other?.spec, which is nil then"},
		"labels by another name":          {"meta.labels.app", 12, "app", "may-be-absent", "meta.labels may be absent, so meta.labels.app cannot be read", "write meta.labels?.app, which is nil then"},
		"a default that proves nothing":   {"(object.spec.tikv?.replicas ?? 1) > 0 && object.spec.tikv.replicas > 1", 58, "replicas", "may-be-absent", "object.spec.tikv may be absent, so object.spec.tikv.replicas cannot be read", "write object.spec.tikv?.replicas, which is nil then"},
		"what find may not find":          {"find(object.spec.nodes, .paused).replicas", 33, "replicas", "may-be-absent", "find(...) may be absent, so find(...).replicas cannot be read", "write find(...)?.replicas, which is nil then"},
		"a condition that may be absent":  {`condition(object, "Ready").status == "True"`, 27, "status", "may-be-absent", "condition(...) may be absent, so condition(...).status cannot be read", "write condition(...)?.status, which is nil then"},
		"another condition was there":     {`condition(object, "Ready") != nil && condition(object, "Old").status == "True"`, 62, "status", "may-be-absent", "condition(...) may be absent, so condition(...).status cannot be read", "write condition(...)?.status, which is nil then"},
		"another call was there":          {`condition(object, "Old") != nil && ready.status == "True"`, 41, "status", "may-be-absent", "ready may be absent, so ready.status cannot be read", "write ready?.status, which is nil then"},
		"an element's part":               {`any(object.spec.nodes, .template.metadata.labels.a == "b")`, 33, "metadata", "may-be-absent", "#.template may be absent, so #.template.metadata cannot be read", "write #.template?.metadata?.labels?.a, which is nil then"},
		"another element was narrowed":    {"map(filter(object.spec.nodes, .template != nil), 1) != [] && any(object.spec.nodes, .template.metadata != nil)", 94, "metadata", "may-be-absent", "#.template may be absent, so #.template.metadata cannot be read", "write #.template?.metadata, which is nil then"},
		"another index was narrowed":      {"object.spec.nodes?.[0]?.template != nil && object.spec.nodes[1].template.metadata != nil", 73, "metadata", "may-be-absent", "object.spec.nodes[1].template may be absent, so object.spec.nodes[1].template.metadata cannot be read", "write object.spec.nodes[1].template?.metadata, which is nil then"},
		"nil itself":                      {"(nil).foo", 6, "foo", "may-be-absent", "(...) is absent, so (...).foo cannot be read", "write (...)?.foo, which is nil then"},
		"an index of what may be absent":  {`object.spec.names[0] == "a"`, 17, "[", "may-be-absent", "object.spec.names may be absent, so object.spec.names[0] cannot be read", "write object.spec.names?.[0], which is nil then"},
		"a dynamic index of it":           {`object.spec.names[object.spec.version] == "a"`, 17, "[", "may-be-absent", "object.spec.names may be absent, so object.spec.names[object.spec.version] cannot be read", "write object.spec.names?.[object.spec.version], which is nil then"},
		"?. before a strict step":         {"object.spec.tikv?.template.metadata == nil", 27, "metadata", "may-be-absent", "object.spec.tikv?.template may be absent, so object.spec.tikv?.template.metadata cannot be read", "write object.spec.tikv?.template?.metadata, which is nil then"},
		"a misspelt field":                {"object.spec.pdd.replicas == 1", 12, "pdd", "unknown-field", `object.spec has no field "pdd"`, "did you mean object.spec.pd?"},
		"another case":                    {"object.spec.pd.Replicas == 1", 15, "Replicas", "unknown-field", `object.spec.pd has no field "Replicas"`, "did you mean object.spec.pd.replicas?"},
		"with an underscore":              {"object.spec.pd.max_unavailable == 1", 15, "max_unavailable", "unknown-field", `object.spec.pd has no field "max_unavailable"`, "did you mean object.spec.pd.maxUnavailable?"},
		"a field of metadata":             {"object.labels.app == nil", 7, "labels", "unknown-field", `object has no field "labels"`, "did you mean object.metadata.labels?"},
		"a field beside it":               {`object.spec.labels.app == "a"`, 12, "labels", "unknown-field", `object.spec has no field "labels"`, "did you mean object.metadata.labels?"},
		"one level deeper":                {"object.spec.replicas == 1", 12, "replicas", "unknown-field", `object.spec has no field "replicas"`, "did you mean object.spec.pd.replicas?"},
		"one level higher":                {"object.metadata.spec == nil", 16, "spec", "unknown-field", `object.metadata has no field "spec"`, "did you mean object.spec?"},
		"nothing like it":                 {"object.replicas == 1", 7, "replicas", "unknown-field", `object has no field "replicas"`, "it has apiVersion, kind, metadata, spec, status"},
		"in brackets":                     {`object.spec["pdd"] == nil`, 12, `"pdd"`, "unknown-field", `object.spec has no field "pdd"`, "did you mean object.spec.pd?"},
		"misspelt and maybe absent":       {"object.spec.tikv.replica == 1", 17, "replica", "unknown-field", `object.spec.tikv has no field "replica"`, "did you mean object.spec.tikv.replicas?"},
		"misspelt behind ?.":              {"object.spec.tikv?.replica == 1", 18, "replica", "unknown-field", `object.spec.tikv has no field "replica"`, "did you mean object.spec.tikv.replicas?"},
		"misspelt to the left of ??":      {"(object.spec.tikv.replica ?? 0) > 1", 18, "replica", "unknown-field", `object.spec.tikv has no field "replica"`, "did you mean object.spec.tikv.replicas?"},
		"misspelt for an element":         {"all(object.spec.nodes, .Replicas > 1)", 24, "Replicas", "unknown-field", `# has no field "Replicas"`, "did you mean #.replicas?"},
		"misspelt in a result":            {`url("https://a").hots == "a"`, 17, "hots", "unknown-field", `url(...) has no field "hots"`, "did you mean url(...).host?"},
		"misspelt in a built map":         {"{a: 1}.b == nil", 7, "b", "unknown-field", `(...) has no field "b"`, "did you mean (...).a?"},
		"misspelt in a param":             {"params.deep.b == 1", 12, "b", "unknown-field", `params.deep has no field "b"`, "did you mean params.deep.a?"},
		"in of a field that there is not": {`"tikvv" in object.spec`, 0, `"tikvv"`, "unknown-field", `object.spec has no field "tikvv"`, "did you mean object.spec.tikv?"},
		"in of a field beside it":         {`"labels" in object`, 0, `"labels"`, "unknown-field", `object has no field "labels"`, "it has apiVersion, kind, metadata, spec, status"},
		"a field of a list":               {"object.spec.nodes.replicas > 1", 18, "replicas", "type-mismatch", `object.spec.nodes is a list and has no field "replicas"`, "write map(object.spec.nodes, #.replicas) for all elements, or object.spec.nodes[0]?.replicas for the first"},
		"a field of objects":              {"pods.spec == nil", 5, "spec", "type-mismatch", `pods is a list and has no field "spec"`, "write map(pods, #.spec) for all elements, or pods[0]?.spec for the first"},
		"a field of a text":               {"object.spec.version.major == 1", 20, "major", "type-mismatch", `object.spec.version is a string and has no field "major"`, ""},
		"a field of a number":             {"object.spec.pd.replicas.foo == 1", 24, "foo", "type-mismatch", `object.spec.pd.replicas is an integer and has no field "foo"`, ""},
		"a field of a label":              {"object.metadata.labels.a.b == 1", 25, "b", "type-mismatch", `object.metadata.labels.a is a string and has no field "b"`, ""},
		"an element of a text":            {`object.spec.version[0] == "v"`, 19, "[", "type-mismatch", "object.spec.version is a string and has no elements", "a character is a slice, as in text[0:1]"},
		"an element of a number":          {"object.spec.pd.replicas[0] == 1", 23, "[", "type-mismatch", "object.spec.pd.replicas is an integer and has no elements", ""},
		"an integer as a key":             {"object.spec.pd[1] == 1", 15, "1", "type-mismatch", "the key of a map wants a string, have an integer", "write string(...)"},
		"a text as an index":              {`params.modes["a"] == 1`, 13, `"a"`, "type-mismatch", `params.modes is a list and has no field "a"`, "write map(params.modes, #.a) for all elements, or params.modes[0]?.a for the first"},
		"an index that may be absent":     {"pods[object.status.ready].metadata", 5, "object.status.ready", "may-be-absent", "object.status.ready may be absent, and the index of a list wants an integer", "?? gives a default: (object.status.ready ?? 0)"},
		"a slice of a number":             {"object.spec.pd.replicas[1:] == 1", 23, "[", "type-mismatch", "object.spec.pd.replicas is an integer and cannot be sliced", ""},
		"a bound that is a text":          {`object.spec.names["a":] == []`, 18, `"a"`, "type-mismatch", "a bound of a slice wants an integer, have a string", "write int(...)"},
	})
}

// TestClusterScoped holds that an object of the cluster as a whole has no namespace, unless the expression asks for one.
func TestClusterScoped(t *testing.T) {
	node := object(fields{"spec": maybe(mapping(fields{"podCIDR": maybe(text)}))})
	node.Map.Fields["metadata"] = maybe(schema.ClusterMetadata())
	for source, want := range map[string]string{
		`object.metadata.namespace == "a"`:  "object.metadata has no namespace, for its object is cluster-scoped; did you mean object.metadata.name?",
		`object.metadata.namespace == nil`:  "",
		`object.metadata?.namespace == "a"`: "",
	} {
		_, errs := newWorld(t, node).checked(t, source)
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", source, text, want)
		}
	}
}
