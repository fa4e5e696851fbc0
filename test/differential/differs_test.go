package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// differs shows where two answers differ, place by place; nothing where they do not.
func differs(truth, simulated answer) string {
	var out strings.Builder
	if truth.Code != simulated.Code {
		fmt.Fprintf(&out, "     code: real %d, simulated %d\n", truth.Code, simulated.Code)
	}
	places(&out, "", truth.Body, simulated.Body)
	return out.String()
}

func places(out *strings.Builder, at string, truth, simulated any) {
	if reflect.DeepEqual(truth, simulated) {
		return
	}
	one, isMap := truth.(map[string]any)
	two, areMaps := simulated.(map[string]any)
	if isMap && areMaps {
		keys := maps.Clone(one)
		maps.Copy(keys, two)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			places(out, at+"."+key, within(one, key), within(two, key))
		}
		return
	}
	first, isList := truth.([]any)
	second, areLists := simulated.([]any)
	if isList && areLists && len(first) == len(second) {
		for i := range first {
			places(out, fmt.Sprintf("%s[%d]", at, i), first[i], second[i])
		}
		return
	}
	fmt.Fprintf(out, "     %s\n       real      %s\n       simulated %s\n", at, shown(truth), shown(simulated))
}

// missing is told apart from null.
type missing struct{}

func within(m map[string]any, key string) any {
	if v, found := m[key]; found {
		return v
	}
	return missing{}
}

func shown(v any) string {
	if _, is := v.(missing); is {
		return "nothing"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
