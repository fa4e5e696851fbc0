package check_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// lets are names of rules that stand for something.
var lets = []string{
	"pd", "object.spec.pd?.replicas ?? 0",
	"tikv", "object.spec.tikv",
	"stores", "object.spec.tikv?.replicas ?? 0",
	"hasTikv", "object.spec.tikv != nil",
	"both", "hasTikv && object.spec.tidb != nil",
	"meta", "object.metadata",
	"ready", `condition(object, "Ready")`,
	"leader", "object.status.leader ?? {name: \"none\"}",
	"first", "find(pods, .spec.nodeName != nil)",
}

// TestGood checks right expressions, most of which look suspicious.
func TestGood(t *testing.T) {
	tests := map[string]struct {
		reason  string
		watched *schema.Type
		source  string
		where   string // a condition that holds, or ""
	}{
		"required":                       {"the schema requires it", cluster, "object.spec.pd.replicas % 2 == 0", ""},
		"always maps":                    {"every object has them", pod, `object.metadata.labels.app == "a" && object.metadata.annotations["a/b"] != nil`, ""},
		"an absent leaf compares":        {"nil is fine there", cluster, `object.spec.tikv?.replicas == 3 && object.spec.timeout != "5m"`, ""},
		"an absent leaf in":              {"nil is fine there", cluster, `object.spec.timeout in ["5m", "6m"]`, ""},
		"no zero, and asked":             {"nil is in its place", pod, `object.spec.nodeName == nil || object.spec.nodeName == ""`, ""},
		"no zero, with a default":        {"this is how to ask", pod, `(object.spec.hostNetwork ?? false) == false && len(object.spec.tolerations) == 0`, ""},
		"no zero, a list or map":         {"it has something in it", pod, `object.spec.tolerations == [{key: "a"}] || object.metadata.labels == {a: "b"}`, ""},
		"reduce may find nothing more":   {"of what an accumulator can be", cluster, `reduce(object.spec.names ?? [], #acc + len(#), 0) > 1`, ""},
		"a call in parentheses":          {"the same call gives the same", cluster, `(first(object.spec.nodes)) != nil && first( object.spec.nodes ).replicas == 1`, ""},
		"a zero that is stored":          {"where the schema does not say", cluster, "object.spec.enabled == false && object.spec.timeout != \"\"", ""},
		"texts that are read":            {"beside what is computed", cluster, `quantity(1) > "10G" && duration("1h") + "2026-01-01T00:00:00Z" > "2026-01-01T00:00:00Z" && semver("1.0.0") == "v1"`, ""},
		"texts that nobody knows":        {"they may be read", cluster, "object.spec.timeout != nil && duration(\"1h\") > object.spec.timeout", ""},
		"a computed value of no type":    {"it may be a duration", cluster, `anything > "24h"`, ""},
		"texts that are no durations":    {"dates, for one, are ordered as texts are", cluster, `object.spec.version > "2026-01-31" && object.spec.version < "m" && object.spec.version > "0"`, ""},
		"labels of something built":      {"it looks like an object", cluster, `labelsMatch({metadata: {labels: {a: "b"}}}, {matchLabels: {a: "b"}})`, ""},
		"labels of a template":           {"it has metadata", cluster, `labelsMatch(object.spec.pd.template, {matchLabels: {a: "b"}})`, `object.spec.pd.template != nil`},
		"labels of a related object":     {"it is one", pod, `config != nil && labelsMatch(config, anything) && any(pods, labelsMatch(#, anything))`, ""},
		"labels of a selector":           {"one is made of them", pod, "labelsMatch(object, {matchLabels: object.metadata.labels})", ""},
		"status reads empty":             {"its fields are nil", cluster, "object.status.ready == nil", ""},
		"narrowed by != nil":             {"it is to the left", cluster, "object.spec.tikv != nil && object.spec.tikv.replicas > 1", ""},
		"narrowed deeper":                {"all that leads there is present", cluster, `object.spec.tikv?.image != nil && object.spec.tikv.image contains object.spec.tikv.image`, ""},
		"narrowed by the negation":       {"|| goes on where it is false", cluster, "object.spec.tikv == nil || object.spec.tikv.replicas > 1", ""},
		"de Morgan":                      {"both are present where neither is nil", cluster, "!(object.spec.tikv == nil || object.spec.tidb == nil) && object.spec.tikv.replicas > object.spec.tidb.replicas", ""},
		"both alternatives say it":       {"whichever holds", cluster, `(object.spec.tikv?.replicas == 1 || object.spec.tikv?.image == "a") && object.spec.tikv.replicas > 1`, ""},
		"narrowed by a constant":         {"nil is none of these", cluster, `object.spec.tikv?.mode in ["Normal"] && object.spec.tikv.replicas == 1`, ""},
		"narrowed by in":                 {"the key is there", cluster, `"tikv" in object.spec && object.spec.tikv.replicas > 1`, ""},
		"narrowed by keys":               {"the key is there", pod, `"app" in keys(object.metadata.labels) && object.metadata.labels.app startsWith "a"`, ""},
		"a label that is there":          {"in says so", pod, `"a/b" in object.metadata.labels && object.metadata.labels["a/b"] > "1"`, ""},
		"a flag of its own":              {"it is true, not nil", cluster, "object.spec.flags != nil && object.spec.flags.a == true && object.spec.flags.a", ""},
		"narrowed by a ternary":          {"its condition", cluster, "object.spec.tikv != nil ? object.spec.tikv.replicas : 0", ""},
		"narrowed in a predicate":        {"the element's own", pod, `any(object.spec.containers, .securityContext != nil && .securityContext.privileged == true)`, ""},
		"narrowed outside of one":        {"it holds inside too", cluster, "object.spec.tikv != nil && any([1], # > object.spec.tikv.replicas)", ""},
		"filtered":                       {"elements are narrowed", pod, `map(filter(object.spec.containers, .securityContext?.runAsUser != nil), .securityContext.runAsUser + 1)`, ""},
		"found":                          {"the element is narrowed", pod, `find(object.spec.containers, .image != nil)?.image ?? "none"`, ""},
		"by when":                        {"the rule has it", cluster, "object.spec.tikv.replicas + 1", "object.spec.tikv != nil"},
		"by lets of lets":                {"at any depth", cluster, "object.spec.tikv.replicas + object.spec.tidb.replicas", "both"},
		"by a let with a default":        {"0 is not more than 0", cluster, "object.spec.tikv.replicas + 1", "stores > 0"},
		"by a default that differs":      {"it would be 0", cluster, "(object.spec.tikv?.replicas ?? 0) == 3 ? object.spec.tikv.replicas : 1", ""},
		"by a default in a list":         {"it is not in there", cluster, `(object.spec.tikv?.mode ?? "") in ["Normal"] && object.spec.tikv.replicas > 0`, ""},
		"by a length":                    {"that of nil is 0", pod, `len(object.spec.tolerations) > 0 && object.spec.tolerations[0].tolerationSeconds != nil`, ""},
		"by a length on the right":       {"it is mirrored", cluster, "0 < len(object.spec.tikv?.template) && object.spec.tikv.replicas > 0", ""},
		"by any":                         {"an empty list has none", cluster, "any(object.spec.tikv?.template?.metadata?.labels | values(), # == \"a\") && true", ""},
		"by use":                         {"an ordering fails on nil", cluster, "(object.spec.ratio ?? 1) > 1 || object.spec.ratio < 3", "object.spec.ratio != nil"},
		"by its type":                    {"nil has another", cluster, `type(object.spec.tikv?.replicas) == "int" && object.spec.tikv.replicas > 1`, ""},
		"by equality with what is there": {"both sides are", cluster, "object.spec.tikv?.version == object.spec.version && object.spec.tikv.replicas > 1", ""},
		"by == true":                     {"as the condition itself", cluster, "(object.spec.tikv != nil) == true && object.spec.tikv.replicas > 1", ""},
		"by a boolean with a default":    {"the default is false", cluster, "(object.spec.tikv?.paused ?? false) && object.spec.tikv.replicas > 1", ""},
		"not paused by default":          {"the default is true", cluster, "!(object.spec.tikv?.paused ?? true) && object.spec.tikv.replicas > 1", ""},
		"an alias":                       {"it is the path", cluster, "object.spec.tikv.replicas > 1", "tikv != nil"},
		"the path of an alias":           {"the reverse", cluster, "tikv.replicas > 1", "object.spec.tikv != nil"},
		"a local alias":                  {"let counts as written out", cluster, "let t = object.spec.tikv; t != nil && object.spec.tikv.replicas > t.replicas", ""},
		"a local condition":              {"let counts as written out", cluster, "let has = object.spec.tikv != nil; has ? object.spec.tikv.replicas : 0", ""},
		"a local of an element":          {"it stands for the element", pod, "any(object.spec.containers, {let c = #; c.image != nil && .image startsWith c.image})", ""},
		"an element of an outer list":    {"what is known stays", cluster, "all(object.spec.nodes, {let n = #; n.image != nil && any([\"a\"], # == n.image + \"b\")})", ""},
		"metadata by another name":       {"labels may be nil there", pod, "meta.labels != nil && meta.labels.app != nil && meta.labels.app startsWith \"a\"", ""},
		"metadata is metadata":           {"its name is there", pod, "meta.name startsWith \"a\"", ""},
		"a condition twice":              {"the same call gives the same", cluster, `condition(object, "Ready") != nil && condition(object, "Ready").status == "True"`, ""},
		"a condition narrowed by use":    {"its status is there", cluster, `ready?.status == "True" && ready.type == "Ready"`, ""},
		"a let behind another call":      {"what is known of the call says nothing of the let", cluster, `ready.type == "Ready"`, `condition(object, "Old") != nil && ready != nil`},
		"the first pod":                  {"find may find none", cluster, `first != nil ? first.metadata.name : "none"`, ""},
		"get":                            {"it is a path too", pod, `get(object.metadata.labels, "app") != nil && get(object.metadata.labels, "app") + "x" == "ax"`, ""},
		"unknown things":                 {"nothing is known", cluster, "anything.a.b > 1 && anything && len(anything.c) + anything.d > 0 && anything[0]", ""},
		"what a schema does not know":    {"it keeps unknown fields", cluster, "object.spec.pd.config != nil && object.spec.pd.config.a.b.c + 1 > 2", ""},
		"an object without a schema":     {"it may be nil all the same, but nothing is known", cluster, "config?.data.a + 1 > 2", ""},
		"dynamic keys":                   {"they are untyped", cluster, "object.spec[params.zone].replicas > 1", ""},
		"an index narrowed":              {"the same index is the same element", pod, "object.spec.containers[0].securityContext != nil && object.spec.containers[0].securityContext.privileged == true", ""},
		"the first of what may be nil":   {"?. asks", cluster, "object.spec.nodes?.[0]?.template != nil && object.spec.nodes[0].template.metadata != nil", ""},
		"an index":                       {"a list has it", pod, "object.spec.containers[0].name == \"a\" && object.spec.containers[-1].ports[0]?.containerPort == 1", "object.spec.containers[-1].ports != nil"},
		"lists may be nil":               {"every list function takes that", cluster, "len(object.spec.names) + len(object.spec.nodes) == 0 && \"a\" in object.spec.names && all(object.spec.nodes, .replicas > 1)", ""},
		"slices may be nil":              {"they are empty", cluster, "object.spec.names[1:] == [] && len(object.spec.nodes[0:2]) > 1", ""},
		"a map may be nil":               {"in is false then", cluster, `"a" in object.spec.flags`, ""},
		"a time and a text":              {"operators convert", cluster, `timestamp(object.metadata.creationTimestamp) < "2026-01-01T00:00:00Z" && object.status.since == timestamp(object.metadata.creationTimestamp)`, ""},
		"two times as texts":             {"RFC 3339 sorts", cluster, "object.metadata.creationTimestamp < (object.status.since ?? \"2026\")", ""},
		"a quantity and a text":          {"operators convert", pod, `any(object.spec.containers, quantity(.resources.limits?.memory ?? 0) > "1Gi")`, ""},
		"a quantity and the schema's":    {"operators convert", cluster, `object.spec.pd.storage == nil || quantity("1Gi") < object.spec.pd.storage`, ""},
		"a quantity equals a text":       {"Kubernetes stores the canonical one", cluster, `object.spec.pd.storage == "1Gi"`, ""},
		"a duration and seconds":         {"operators convert", cluster, `duration(object.spec.timeout ?? "5m") > 90 && 2 * duration("1h") == "2h"`, ""},
		"int or string":                  {"either will do", cluster, `object.spec.pd.maxUnavailable == 1 || object.spec.pd.maxUnavailable == "25%"`, ""},
		"the other kind of a percentage": {"it may be right", cluster, `object.spec.pd.maxUnavailable != nil && object.spec.pd.maxUnavailable + 1 > 2`, ""},
		"an enumeration":                 {"it is one of them", pod, `object.spec.restartPolicy != "Never" && object.status.phase in ["Failed", "Succeeded"]`, ""},
		"an enumeration and a constant":  {"it may be set otherwise", pod, `object.spec.restartPolicy in params.modes`, ""},
		"constants compare":              {"params are switches", cluster, "params.least == 5 && params.zone == \"Europe/Berlin\" && params.deep.a != 7", ""},
		"an optional param":              {"?. asks whether it is there", cluster, "(params.deep?.b ?? 1) + 1 == 2", ""},
		"comparing with nil":             {"harmless where it never is", cluster, "object.spec.pd != nil && object.metadata.name == nil && nil in object.spec.names", ""},
		"reduce":                         {"the accumulator can be what the predicate gives", cluster, `reduce(object.spec.names, #acc == 3 ? #acc : #acc + len(#), 0) > 1`, ""},
		"sortBy":                         {"nil comes first", pod, "sortBy(pods, [.spec.nodeName, desc(.metadata.creationTimestamp)])[0].metadata.name == \"a\"", ""},
		"a map literal":                  {"it has what it says", cluster, "{a: 1, b: object.spec.tikv}.a + 1 == 2", ""},
		"merge":                          {"the second wins", cluster, `merge({a: "x"}, {a: 1, b: 2}).a + 1 == 2`, ""},
		"groups":                         {"they know their items", pod, `groups(pods, .spec.nodeName)[0].items[0].metadata.name == "a"`, ""},
		"a ternary to the left of ??":    {"so are its branches", cluster, "(object.spec.enabled ?? true ? object.spec.tikv.replicas : object.spec.tidb.replicas) ?? 1", ""},
		"an element that is a text":      {"it has characters", cluster, "filter(object.spec.names, # startsWith \"a\" && #[0:1] != \"b\")", ""},
		"owners":                         {"they have names", pod, `controllerOf(object)?.name == "a" && any(object.metadata.ownerReferences, .controller == true && .kind == "ReplicaSet")`, ""},
		"deletion":                       {"it may be absent", pod, `object.metadata.deletionTimestamp != nil && after(object.metadata.deletionTimestamp)`, ""},
		"omit":                           {"it leaves into a body", cluster, "object.spec.tikv == nil ? omit() : object.spec.tikv.replicas", ""},
		"omit in a map":                  {"the other entries do not mind", cluster, "{a: omit(), b: 1}.b == 1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tt.watched, lets...)
			var conditions []string
			if tt.where != "" {
				conditions = append(conditions, tt.where)
			}
			if _, errs := w.checked(t, tt.source, conditions...); len(errs) > 0 {
				t.Errorf("%s: %v, but %s", tt.source, errs, tt.reason)
			}
		})
	}
}
