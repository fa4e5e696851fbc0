package e2e

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// TestSchemaChangesInPlace holds that rules see what the schema in effect shows of objects
// that nobody writes when it changes, and of those that are written while it does. To a
// watch that is open the API server tells these by the schema from before, and what was
// told once is not told again to the watch after it.
func TestSchemaChangesInPlace(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	namespace := cluster(t).Namespace(t)
	d := definition{plural: "places", versions: []version{{name: "v1", store: true, spec: sized}}}
	d.account(t, namespace)
	d.install(t)
	defer d.remove(t)
	for _, name := range []string{"plain", "told"} {
		d.thing(t, "v1", namespace, name, "{color: red}")
	}
	d.thing(t, "v1", namespace, "first", "{size: 1}")
	in := strings.NewReplacer("GROUP", d.group(), "PLURAL", d.plural, "NAMESPACE", namespace)
	keep(t, v1alpha1.RuleSets(), namespace, decode(t, in.Replace(lifecycleObject)))
	file := strings.Replace(d.rules("v1"), "watch: things", "watch: things\n    when: object.spec?.size == 1", 1)
	p := serve(t, "--rules", rulesFile(t, namespace, file), "--rules-from-cluster")
	follows := follows{p, "informer places.v1." + d.group() + " -n " + namespace, namespace}
	follows.present(t, d, "first")
	others(t, namespace, "1")

	// A default is there without a write. Of "told" the watch tells that it has none.
	d.changes(t, namespace, "told", "{size: {type: integer, default: 1}, color: {type: string}, shape: {type: string}}", "shape", `"round"`)
	follows.present(t, d, "told")
	follows.present(t, d, "plain")

	d.versions[0].spec = unsized
	d.install(t)
	eventually(t, "the set object is refused", func() bool { return strings.HasPrefix(ready(t, namespace), "Refused: ") })
	d.thing(t, "v1", namespace, "last", "{color: red}")

	// There is such a field again, and one has it at once.
	d.changes(t, namespace, "last", sized, "size", "1")
	follows.present(t, d, "last")
	p.waits(t, "rules", "[+]")
	others(t, namespace, "2")
	p.calm(t, d, 0, 20)
}

// changes gives the first version another schema, and a thing what that has, in the same
// moment.
func (d definition) changes(t *testing.T, namespace, name, schema, added, value string) {
	t.Helper()
	d.versions[0].spec = schema
	d.install(t)
	eventually(t, "the field is there", func() bool {
		edit(t, d.gvr("v1"), namespace, name, `{"spec":{"`+added+`":`+value+`}}`)
		return field(get(t, d.gvr("v1"), namespace, name), "spec", added) != nil
	})
}
