package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
)

// carefulRule marks ConfigMaps of a namespace, a quarter of them in ten minutes.
const carefulRule = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: careful, namespace: NAMESPACE, annotations: {dyncontroller.dev/resume: "RESUME"}}
spec:
  resources: {configmaps: {version: v1, resource: configmaps, labelSelector: careful=yes}}
  rules:
  - name: mark
    watch: configmaps
    limits: {maxObjects: LIMIT}
    actions: [{patch: {merge: {metadata: {labels: {color: red}}}}}]
`

// careful is that rule in a file, and the ConfigMaps.
type careful struct {
	t               *testing.T
	namespace, path string
	args            []string
}

const carefulObjects = 8

func newCareful(t *testing.T) *careful {
	t.Helper()
	c := &careful{t: t, namespace: cluster(t).Namespace(t), path: filepath.Join(t.TempDir(), "rules.yaml")}
	for i := range carefulObjects {
		create(t, configmaps, c.namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: cm-%d, labels: {careful: "yes"}}}`, i))
	}
	c.write("25%", "")
	c.args = []string{"--namespace", c.namespace, "--instance", c.namespace, "--rules", c.path}
	return c
}

func (c *careful) write(limit, resume string) {
	c.t.Helper()
	writeFile(c.t, c.path, strings.NewReplacer("NAMESPACE", c.namespace, "LIMIT", limit, "RESUME", resume).Replace(carefulRule))
}

// marked counts the ConfigMaps that the rule has written to.
func (c *careful) marked() int {
	c.t.Helper()
	n := 0
	for i := range carefulObjects {
		if color(c.t, c.namespace, fmt.Sprint("cm-", i)) == "red" {
			n++
		}
	}
	return n
}

// stored is what the inventory says.
func (c *careful) stored() string {
	found, err := client(c.t).Resource(inventory.GVR()).Namespace(c.namespace).Get(c.t.Context(), "dyncontroller-inventory-"+c.namespace, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return fmt.Sprint(field(found, "data"))
}

// TestLimitOfAFile holds that a rule of a file pauses at its limit, stays so after a
// restart and with --once, and goes on when its document asks for it, or it changes.
func TestLimitOfAFile(t *testing.T) {
	virtually(t, func(t *testing.T) {
		c := newCareful(t)
		p := start(t, c.args...)
		eventually(t, "it is paused, and that is stored", func() bool {
			return strings.Contains(p.output.String(), "rule is paused") && strings.Contains(c.stored(), `"paused":[{`)
		})
		if n := c.marked(); n != 2 {
			t.Errorf("it has written to %d of %d, want 2", n, carefulObjects)
		}
		if code := p.wait(t); code != 0 {
			t.Fatalf("ended with %d", code)
		}

		output, code := once(t, c.args...)
		if n := c.marked(); n != 2 || code != 1 || !strings.Contains(output, "it has written for 2 of 8 objects in 10m, its limit is 25%") {
			t.Errorf("after a restart it has written to %d, and ends with %d:\n%s", n, code, output)
		}

		p = start(t, c.args...)
		c.write("25%", "mark")
		eventually(t, "it goes on, and pauses again", func() bool { return c.marked() == 4 && strings.Contains(c.stored(), `"asked":true`) })
		c.write("100%", "mark")
		eventually(t, "it may write to all", func() bool { return c.marked() == carefulObjects && !strings.Contains(c.stored(), `"paused"`) })
		if code := p.wait(t); code != 0 {
			t.Errorf("ended with %d", code)
		}
	})
}
