package check_test

import "testing"

// TestZero compares with what is never stored.
func TestZero(t *testing.T) {
	checkMistakes(t, map[string]mistake{
		"false":            {"pods[0].spec.hostNetwork == false", 25, "==", "never-true", "pods[0].spec.hostNetwork is absent where it would be false, so this is never true", "write (pods[0].spec.hostNetwork ?? false) == false"},
		"not false":        {"pods[0].spec.hostNetwork != false", 25, "!=", "never-true", "pods[0].spec.hostNetwork is absent where it would be false, so this is always true", "write (pods[0].spec.hostNetwork ?? false) != false"},
		"on the left":      {"false == pods[0].spec.hostNetwork", 6, "==", "never-true", "pods[0].spec.hostNetwork is absent where it would be false, so this is never true", "write (pods[0].spec.hostNetwork ?? false) == false"},
		"no text":          {`pods[0].spec.nodeName == ""`, 22, "==", "never-true", `pods[0].spec.nodeName is absent where it would be "", so this is never true`, `write (pods[0].spec.nodeName ?? "") == ""`},
		"an empty list":    {"pods[0].spec.tolerations == []", 25, "==", "never-true", "pods[0].spec.tolerations is absent where it would be [], so this is never true", "write (pods[0].spec.tolerations ?? []) == []"},
		"no empty list":    {"pods[0].spec.tolerations != []", 25, "!=", "never-true", "pods[0].spec.tolerations is absent where it would be [], so this is always true", "write (pods[0].spec.tolerations ?? []) != []"},
		"by a variable":    {`let node = pods[0].spec.nodeName; node == ""`, 39, "==", "never-true", `node is absent where it would be "", so this is never true`, `write (node ?? "") == ""`},
		"of an element":    {`any(pods, .spec.nodeName == "")`, 25, "==", "never-true", `#.spec.nodeName is absent where it would be "", so this is never true`, `write (#.spec.nodeName ?? "") == ""`},
		"another is asked": {`pods[0].spec.nodeName == nil || pods[0].spec.hostNetwork == false`, 57, "==", "never-true", "pods[0].spec.hostNetwork is absent where it would be false, so this is never true", "write (pods[0].spec.hostNetwork ?? false) == false"},
	})
}

// TestConverted compares with texts that cannot be read as what they stand beside.
func TestConverted(t *testing.T) {
	checkMistakes(t, map[string]mistake{
		"a quantity":         {`quantity(1) > "10GB"`, 14, `"10GB"`, "wrong-format", `"10GB" is not a quantity`, `write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
		"on the left":        {`"10GB" == quantity(1)`, 0, `"10GB"`, "wrong-format", `"10GB" is not a quantity`, `write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
		"a time":             {`timestamp(object.metadata.creationTimestamp) > "2026-01-01"`, 47, `"2026-01-01"`, "wrong-format", `"2026-01-01" is not a time`, `write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"a duration":         {`timestamp(object.metadata.creationTimestamp) - "5min" > "1h"`, 47, `"5min"`, "wrong-format", `"5min" is not a duration`, `write it with units, such as "90s", "1h30m", "2d" or "1w"`},
		"a time to add":      {`duration("1h") + "2026-01-01" > "1h"`, 17, `"2026-01-01"`, "wrong-format", `"2026-01-01" is not a time`, `write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"a version":          {`semver("1.0.0") == "latest"`, 19, `"latest"`, "wrong-format", `"latest" is not a version`, `write it as major.minor.patch, such as "1.31.0" or "v1.31.0-rc.1"`},
		"a key that is none": {`"foo" in object.spec.pd`, 0, `"foo"`, "unknown-field", `object.spec.pd has no field "foo"`, ""},
		"nothing at all":     {`upper(nil) == "a"`, 6, "nil", "may-be-absent", "this is absent, and upper wants a string", `?? gives a default: (x ?? "")`},
		"absent quantity":    {`max(map([1], quantity(#))) > "1Gi"`, 0, "max", "may-be-absent", "max(...) may be absent, and > wants a quantity", `?? gives a default: (max(...) ?? quantity("0"))`},
		"labels first":       {"labelsMatch(object.metadata.labels, {matchLabels: {a: 'b'}})", 12, "object.metadata.labels", "type-mismatch", "labelsMatch wants an object and then a selector, and object.metadata.labels has no metadata with labels", "write labelsMatch(object, selector)"},
		"metadata first":     {"labelsMatch(object.metadata, {matchLabels: {a: 'b'}})", 12, "object.metadata", "type-mismatch", "labelsMatch wants an object and then a selector, and object.metadata has no metadata with labels", "write labelsMatch(object, selector)"},
		"selector first":     {"labelsMatch({matchLabels: {a: 'b'}}, object.metadata.labels)", 12, "{", "type-mismatch", "labelsMatch wants an object and then a selector, and this has no metadata with labels", "write labelsMatch(object, selector)"},
		"built without":      {"labelsMatch({metadata: 'a'}, {matchLabels: {a: 'b'}})", 12, "{", "type-mismatch", "labelsMatch wants an object and then a selector, and this has no metadata with labels", "write labelsMatch(object, selector)"},
		"plain labels":       {"labelsMatch(object, object.metadata.labels)", 20, "object.metadata.labels", "type-mismatch", "labelsMatch wants a label selector, and object.metadata.labels is a map of plain labels", "write {matchLabels: object.metadata.labels}"},
	})
}
