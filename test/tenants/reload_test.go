package tenants

import (
	"fmt"
	"testing"
	"time"
)

// colors is a set that has ConfigMaps say a color.
const colors = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: colors, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  mode: %s
  params: {color: %s}
  resources: {painted: {version: v1, resource: configmaps, labelSelector: %s}}
  rules:
  - name: paint
    watch: painted
    actions: [{patch: {merge: {data: {color: "${params.color}"}}}}]
`

// TestReloadOfASet holds that a set object is edited without its cache being filled anew, and that where it selects
// something else, the new cache is filled while the old one is still there.
func TestReloadOfASet(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		account(t, cluster(t), namespace, "bot", editor)
		for _, name := range []string{"a", "b"} {
			apply(t, cluster(t), namespace, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: NAMESPACE, labels: {part: %s}}\n", name, name))
		}
		start(t, cluster(t))
		painted := func(name, color string) {
			t.Helper()
			eventually(t, name+" is "+color, func() bool {
				return field(get(t, cluster(t), configmaps, namespace, name), "data", "color") == color
			})
		}
		bot := "system:serviceaccount:" + namespace + ":bot"
		for i := range 10 {
			color := fmt.Sprintf("color-%d", i)
			apply(t, cluster(t), namespace, fmt.Sprintf(colors, "Enforce", color, "part=a"))
			painted("a", color)
			apply(t, cluster(t), namespace, fmt.Sprintf(colors, "Audit", color, "part=a"))
			eventually(t, "it is audited", func() bool {
				set := get(t, cluster(t), ruleSets, namespace, "colors")
				return field(set, "status", "observedGeneration") == set.GetGeneration()
			})
		}
		if n := len(opened(t, bot)); n != 1 {
			t.Errorf("%d watches for one cache", n)
		}

		apply(t, cluster(t), namespace, fmt.Sprintf(colors, "Enforce", "last", "part=b"))
		painted("b", "last")
		eventually(t, "one cache is left", func() bool { return len(opened(t, bot)) == 2 && watching(t, bot, "configmaps") == 1 })
		var closed, began int // where the log has it
		for at, r := range about(t, time.Time{}, bot, "configmaps") {
			switch {
			case r.Verb != "watch":
			case r.Stage == "ResponseComplete":
				closed = at
			default:
				began = at // Of the last one.
			}
		}
		if began > closed {
			t.Error("the new cache began when the old one was gone")
		}
	})
}
