package plan

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestApplied(t *testing.T) {
	const ports = `"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}, "f:name": {}}`
	tests := map[string]struct {
		reason  string
		fields  string // FieldsV1 of our entry; empty for no entry
		current string
		body    string
		grain   Grain // nil for one that is not known
		want    bool
	}{
		"NeverApplied": {
			reason:  "Values that are there but not owned are still to be applied, or they could be taken away.",
			current: `{spec: {a: 1}}`, body: `{spec: {a: 1}}`,
		},
		"Same": {
			reason: "Owned and equal.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1, b: 2}}`, body: `{spec: {a: 1}}`, want: true,
		},
		"OtherValue": {
			reason: "A value that was forced away must be applied again.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 2}}`, body: `{spec: {a: 1}}`,
		},
		"OwnsMore": {
			reason: "A field that is no longer wanted must be given up.",
			fields: `{"f:spec": {"f:a": {}, "f:b": {}}}`, current: `{spec: {a: 1, b: 2}}`, body: `{spec: {a: 1}}`,
		},
		"OwnsLess": {
			reason: "A field that is newly wanted must be owned.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1, b: 2}}`, body: `{spec: {a: 1, b: 2}}`,
		},
		"AtomicList": {
			reason: "A list without children in the tree is owned as a whole.",
			fields: `{"f:spec": {"f:args": {}}}`, current: `{spec: {args: [x, z]}}`, body: `{spec: {args: [x, z]}}`, want: true,
		},
		"EmptyList": {
			reason: "Nobody owns a list that is merged and has no elements.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1, list: []}}`, body: `{spec: {a: 1, list: []}}`, want: true,
		},
		"EmptyListAbsent": {
			reason: "It is stored where nothing says that it is not.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1}}`, body: `{spec: {a: 1, list: []}}`,
		},
		"EmptyListFilled": {
			reason: "It could be a list that is replaced.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1, list: [x]}}`, body: `{spec: {a: 1, list: []}}`,
		},
		"EmptyListMerged": {
			grain:  withPorts{},
			reason: "What others have in a list that is merged is theirs, and the list nobody's.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1, ports: [{port: 80}]}}`, body: `{spec: {a: 1, ports: []}}`, want: true,
		},
		"EmptyListMergedOwned": {
			grain:   withPorts{},
			reason:  "Our own elements are to go.",
			fields:  `{"f:spec": {"f:a": {}, "f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}}}}`,
			current: `{spec: {a: 1, ports: [{port: 80}, {port: 81}]}}`, body: `{spec: {a: 1, ports: []}}`,
		},
		"EmptyListsOnly": {
			reason: "Nor does anybody own a map of which nothing else is applied.",
			fields: `{"f:a": {}}`, current: `{a: 1, spec: {b: 2, list: []}}`, body: `{a: 1, spec: {list: []}}`, want: true,
		},
		"EmptyListsOnlyAbsent": {
			reason: "Something else may be what made the map.",
			fields: `{"f:a": {}}`, current: `{a: 1, spec: {b: 2}}`, body: `{a: 1, spec: {list: []}}`,
		},
		"EmptyListOwned": {
			reason: "The last element is to go.",
			fields: `{"f:spec": {"f:list": {"v:\"x\"": {}}}}`, current: `{spec: {list: [x]}}`, body: `{spec: {list: []}}`,
		},
		"ByKey": {
			reason:  "Elements of others in a list that is merged by key are theirs.",
			fields:  `{"f:spec": {"f:ports": {` + ports + `}}}`,
			current: `{spec: {ports: [{containerPort: 22, protocol: TCP}, {containerPort: 80, protocol: TCP, name: http}]}}`,
			body:    `{spec: {ports: [{containerPort: 80, protocol: TCP, name: http}]}}`,
			want:    true,
		},
		"ByKeyOther": {
			reason:  "A field of an element differs.",
			fields:  `{"f:spec": {"f:ports": {` + ports + `}}}`,
			current: `{spec: {ports: [{containerPort: 80, protocol: TCP, name: web}]}}`,
			body:    `{spec: {ports: [{containerPort: 80, protocol: TCP, name: http}]}}`,
		},
		"ByKeyMore": {
			reason:  "An element is wanted that is not owned.",
			fields:  `{"f:spec": {"f:ports": {` + ports + `}}}`,
			current: `{spec: {ports: [{containerPort: 80, protocol: TCP, name: http}, {containerPort: 22, protocol: TCP}]}}`,
			body:    `{spec: {ports: [{containerPort: 80, protocol: TCP, name: http}, {containerPort: 22, protocol: TCP}]}}`,
		},
		"ByKeyDefaulted": {
			reason:  "A part of the key that the body leaves out was defaulted.",
			fields:  `{"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}}`,
			current: `{spec: {ports: [{port: 80, protocol: TCP}, {port: 80, protocol: UDP}]}}`,
			body:    `{spec: {ports: [{port: 80}]}}`,
			want:    true,
		},
		"ByKeyUnclear": {
			reason:  "Two elements that may be meant are not compared.",
			fields:  `{"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}}`,
			current: `{spec: {ports: [{port: 80, protocol: TCP}]}}`,
			body:    `{spec: {ports: [{port: 80}, {port: 80, name: x}]}}`,
		},
		"Set": {
			reason:  "A set is owned value by value.",
			fields:  `{"f:metadata": {"f:finalizers": {".": {}, "v:\"x\"": {}}}}`,
			current: `{metadata: {finalizers: [other, x]}}`, body: `{metadata: {finalizers: [x]}}`, want: true,
		},
		"SetGone": {
			reason:  "A value of the set was taken out.",
			fields:  `{"f:metadata": {"f:finalizers": {".": {}, "v:\"x\"": {}}}}`,
			current: `{metadata: {finalizers: [other]}}`, body: `{metadata: {finalizers: [x]}}`,
		},
		"EmptyMap": {
			reason: "An empty map is a value.",
			fields: `{"f:spec": {"f:emptyDir": {}}}`, current: `{spec: {emptyDir: {}}}`, body: `{spec: {emptyDir: {}}}`, want: true,
		},
		"EmptyMapFilled": {
			reason: "What the API server defaults in an empty map, or another applies in it, is not ours.",
			fields: `{"f:spec": {"f:strategy": {}}}`, current: `{spec: {strategy: {type: RollingUpdate}}}`, body: `{spec: {strategy: {}}}`, want: true,
		},
		"EmptyMapForList": {
			reason: "A map is no list.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: [1]}}`, body: `{spec: {a: {}}}`,
		},
		"NothingNeverApplied": {
			reason:  "Who applies nothing owns nothing: there is no entry to wait for.",
			current: `{spec: {a: 1}}`, body: `{}`, want: true,
		},
		"EmptyMetadataNeverApplied": {
			reason:  "The metadata are there in any case, and nobody's.",
			current: `{spec: {a: 1}}`, body: `{metadata: {}}`, want: true,
		},
		"NothingAppliedBefore": {
			reason: "What is owned must be given up.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1}}`, body: `{metadata: {}}`,
		},
		"EmptySpecNeverApplied": {
			reason:  "An empty map elsewhere is owned.",
			current: `{spec: {}}`, body: `{spec: {}}`,
		},
		"NothingOfWhatIsNotThere": {
			reason:  "An object that is not there is made by an apply, even of nothing.",
			current: `null`, body: `{}`,
		},
		"ScalarForMap": {
			reason: "The type changed; the tree still tells of the old one.",
			fields: `{"f:spec": {"f:a": {"f:b": {}}}}`, current: `{spec: {a: {b: 1}}}`, body: `{spec: {a: 1}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := decode[map[string]any](t, tc.current)
			if tc.fields != "" {
				metadata, _ := current["metadata"].(map[string]any)
				if metadata == nil {
					metadata = map[string]any{}
				}
				metadata["managedFields"] = []any{
					entry(t, "kubectl", "Update", "", `{"f:spec": {"f:a": {}}}`),
					entry(t, "ours", "Apply", "status", `{}`),
					entry(t, "ours", "Apply", "", tc.fields),
				}
				current["metadata"] = metadata
			}
			o := Options{Applied: byKey, Grain: func(schema.GroupVersionResource, string) Grain { return tc.grain }}
			if got := o.isApplied(place{}, current, withoutEmptyMetadata(decode[map[string]any](t, tc.body)), "ours"); got != tc.want {
				t.Errorf("%s got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// byKey is an API server that merges lists of maps by the first of these keys that they have, and takes finalizers for a set.
func byKey(_ schema.GroupVersionResource, _, _ string, object, body map[string]any) map[string]any {
	var merge func(name string, old, value any) any
	merge = func(name string, old, value any) any {
		switch value := value.(type) {
		case map[string]any:
			before, _ := old.(map[string]any)
			out := maps.Clone(before)
			if out == nil {
				out = map[string]any{}
			}
			for key, below := range value {
				out[key] = merge(key, before[key], below)
			}
			return out
		case []any:
			before, _ := old.([]any)
			out := slices.Clone(before)
			for _, element := range value {
				fields, isMap := element.(map[string]any)
				keys := slices.DeleteFunc([]string{"containerPort", "port", "name"}, func(key string) bool { return fields[key] == nil })
				if len(keys) == 0 && name != "finalizers" {
					return value
				}
				i := slices.IndexFunc(out, func(old any) bool {
					have, areMaps := old.(map[string]any)
					return isMap && areMaps && have[keys[0]] == fields[keys[0]] || !isMap && old == element
				})
				if i < 0 {
					out = append(out, element)
				} else {
					out[i] = merge("", out[i], element)
				}
			}
			return out
		default:
			return value
		}
	}
	out, _ := merge("", object, body).(map[string]any)
	return out
}

// withPorts is of values of which nothing is known but that lists called ports are merged.
type withPorts struct{ ports }

func (withPorts) Below(key string) Grain {
	if key == "ports" {
		return ports{}
	}
	return withPorts{}
}
func (withPorts) WholeList() bool { return true }

func entry(t *testing.T, manager, operation, subresource, fields string) map[string]any {
	t.Helper()
	out := map[string]any{"manager": manager, "operation": operation, "fieldsV1": decode[map[string]any](t, fields)}
	if subresource != "" {
		out["subresource"] = subresource
	}
	return out
}
