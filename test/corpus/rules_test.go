package corpus

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// rules holds that right rules about every resource pass without a word, and that wrong ones are told of at the right
// place with the right hint.
func (c corpus) rules(t *testing.T) *tally {
	t.Helper()
	found, catalog := newTally(), schema.NewCatalog(c.source, builtin.Source())
	for _, name := range c.source.Resources() {
		found.check(catalog, c.source.Resource(name.GroupVersionResource))
	}
	found.report(t)
	return found
}

// TestBuiltins holds the same of kinds of Kubernetes, of which the program itself knows what they are.
func TestBuiltins(t *testing.T) {
	source := builtin.Source()
	catalog, found, kinds := schema.NewCatalog(source), newTally(), 0
	for _, name := range []string{
		"/v1/pods", "/v1/services", "/v1/configmaps", "/v1/secrets", "/v1/nodes", "/v1/namespaces", "/v1/persistentvolumeclaims", "/v1/persistentvolumes",
		"/v1/serviceaccounts", "apps/v1/deployments", "apps/v1/statefulsets", "apps/v1/daemonsets", "apps/v1/replicasets", "batch/v1/jobs", "batch/v1/cronjobs",
		"networking.k8s.io/v1/ingresses", "networking.k8s.io/v1/networkpolicies", "policy/v1/poddisruptionbudgets", "autoscaling/v2/horizontalpodautoscalers",
		"rbac.authorization.k8s.io/v1/clusterroles", "rbac.authorization.k8s.io/v1/rolebindings", "storage.k8s.io/v1/storageclasses",
		"discovery.k8s.io/v1/endpointslices", "apiextensions.k8s.io/v1/customresourcedefinitions", "scheduling.k8s.io/v1/priorityclasses",
	} {
		resource := source.Resource(gvr(name))
		if resource == nil {
			t.Errorf("%s is not known", name)
			continue
		}
		kinds++
		holdSamples(t, resource)
		found.check(catalog, resource)
	}
	if kinds < 20 {
		t.Errorf("there are %d kinds, want at least 20", kinds)
	}
	found.report(t)
	t.Logf("%s", found)
}

// TestRulesWithoutSchemas holds that the wrong rules are wrong for the types alone: where nothing is known, nothing is
// said.
func TestRulesWithoutSchemas(t *testing.T) {
	source := builtin.Source()
	for _, name := range []string{"/v1/pods", "apps/v1/deployments", "rbac.authorization.k8s.io/v1/clusterroles"} {
		resource := source.Resource(gvr(name))
		var cases []Case
		for _, m := range Bad(resource) {
			cases = append(cases, m.Wrong, m.Right)
		}
		for _, b := range Batches(resource, append(cases, Good(resource)...)) {
			if _, errs := loadRules(b, nil); len(errs) > 0 {
				t.Errorf("%s:\n%s", name, errs.Render())
			}
		}
	}
}

func loadRules(b Batch, catalog *schema.Catalog) (warnings, errs document.Errors) {
	set, errs := rules.Load([]document.File{b.File}, rules.Options{Schemas: catalog, DefaultNamespace: "default"})
	if set == nil {
		return nil, errs
	}
	return set.Warnings().Of(document.Warning), errs
}

// replacing are the shapes of right rules that write a list as a whole, so that it is rightly told of a list with keys.
var replacing = []string{
	"merges a list", "merges a map", "merges any", "merges a misspelt field", "misspelt field of an element", "element lacks a field",
	"text into a list", "text into a map", "too few",
}

// tally counts what was said, and keeps what should not have been, by shape.
type tally struct {
	resources, good, bad, caught int
	replaced                     int // right rules that are told to replace a list with keys, as they do
	failures                     map[string][]string
}

func newTally() *tally { return &tally{failures: map[string][]string{}} }

func (a *tally) add(b *tally) {
	a.resources, a.good, a.bad, a.caught = a.resources+b.resources, a.good+b.good, a.bad+b.bad, a.caught+b.caught
	a.replaced += b.replaced
}

func (a *tally) String() string {
	return fmt.Sprintf("%d resources, %d right rules, %d of them replace a list with keys, %d wrong ones, %d of them caught as they should be",
		a.resources, a.good, a.replaced, a.bad, a.caught)
}

// report tells of each shape that failed, and some of its failures.
func (a *tally) report(t *testing.T) {
	t.Helper()
	for _, shape := range sortedKeys(a.failures) {
		const shown = 3
		failures := a.failures[shape]
		t.Errorf("%s: %d failures\n%s", shape, len(failures), strings.Join(failures[:min(shown, len(failures))], "\n"))
	}
}

func (a *tally) check(catalog *schema.Catalog, resource *schema.Resource) {
	a.resources++
	mistakes := Bad(resource)
	right := Good(resource)
	for _, m := range mistakes {
		right = append(right, m.Right)
	}
	a.right(catalog, resource, right)
	a.wrong(catalog, resource, mistakes)
}

func (a *tally) right(catalog *schema.Catalog, resource *schema.Resource, cases []Case) {
	for _, b := range Batches(resource, cases) {
		a.good += len(b.Cases)
		warnings, errs := loadRules(b, catalog)
		for _, err := range append(errs, warnings...) {
			i, _ := b.Case(err.Line)
			if err.Code == document.CodeReplacedList && i >= 0 && slices.Contains(replacing, b.Cases[i].Shape) {
				a.replaced++
				continue
			}
			a.fail("right: ", b, i, "is told of: "+err.Render())
		}
	}
}

func (a *tally) wrong(catalog *schema.Catalog, resource *schema.Resource, mistakes []Mistake) {
	byName := map[string]Mistake{}
	var cases []Case
	for _, m := range mistakes {
		byName[m.Wrong.Name] = m
		cases = append(cases, m.Wrong)
	}
	for _, b := range Batches(resource, cases) {
		a.bad += len(b.Cases)
		_, errs := loadRules(b, catalog)
		said := make([]document.Errors, len(b.Cases))
		for _, err := range errs {
			if i, _ := b.Case(err.Line); i >= 0 {
				said[i] = append(said[i], err)
			}
		}
		for i, c := range b.Cases {
			if failure := byName[c.Name].judge(b, said[i]); failure != "" {
				a.fail("wrong: ", b, i, failure)
			} else {
				a.caught++
			}
		}
	}
}

// judge is what is wrong with what was said of a mistake, or "".
func (m Mistake) judge(b Batch, said document.Errors) string {
	switch len(said) {
	case 0:
		return fmt.Sprintf("is taken, want %q of %q", m.Codes, m.Suggests)
	case 1:
		_, line := b.Case(said[0].Line)
		if err := m.Says(said[0], line); err != nil {
			return err.Error() + ": " + said[0].Render()
		}
		return ""
	default:
		return "one mistake is told of as several:\n" + said.Render()
	}
}

func (a *tally) fail(kind string, b Batch, i int, what string) {
	c := Case{Name: "outside of all rules"}
	if i >= 0 {
		c = b.Cases[i]
	}
	key := kind + c.Shape
	a.failures[key] = append(a.failures[key], fmt.Sprintf("%s: %s %s\n%s", b.File.Name, c.Name, what, c.Rule))
}
