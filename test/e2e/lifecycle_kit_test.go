package e2e

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// definition is a CRD of a test. Its group is of the test alone.
type definition struct {
	plural string
	scope  string // Namespaced where it is empty
	// versions are in the order of their names, each with its schema of spec.
	versions []version
	// conversion is in YAML flow style, empty for none.
	conversion string
}

type version struct {
	name            string
	unserved, store bool
	spec            string // properties, in YAML flow style
}

func (d definition) group() string { return d.plural + ".lifecycle.example.com" }

func (d definition) gvr(version string) apischema.GroupVersionResource {
	return apischema.GroupVersionResource{Group: d.group(), Version: version, Resource: d.plural}
}

func (d definition) name() string { return d.plural + "." + d.group() }

// install creates the CRD, or changes it, and waits until it is served. It is gone after
// the test.
func (d definition) install(t *testing.T) {
	t.Helper()
	text := fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: %s
  scope: %s
  names: {plural: %s, singular: %s, kind: Thing}
`, d.name(), d.group(), cmp.Or(d.scope, "Namespaced"), d.plural, strings.TrimSuffix(d.plural, "s"))
	if d.conversion != "" {
		text += "  conversion: " + d.conversion + "\n"
	}
	text += "  versions:\n"
	for _, v := range d.versions {
		text += fmt.Sprintf("  - {name: %s, served: %t, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: %s}}}}}\n",
			v.name, !v.unserved, v.store, v.spec)
	}
	if err := cluster(t).InstallCRDs(t.Context(), rulesFile(t, "", text)); err != nil {
		t.Fatal(err)
	}
}

// remove deletes the CRD, if there is one, and waits until it is gone.
func (d definition) remove(t *testing.T) {
	t.Helper()
	all := client(t).Resource(definitions)
	if err := all.Delete(t.Context(), d.name(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	eventually(t, "the CRD is gone", func() bool {
		_, err := all.Get(t.Context(), d.name(), metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// thing creates an object of a version.
func (d definition) thing(t *testing.T, version, namespace, name, spec string) {
	t.Helper()
	create(t, d.gvr(version), namespace, fmt.Sprintf("{apiVersion: %s/%s, kind: Thing, metadata: {name: %s}, spec: %s}", d.group(), version, name, spec))
}

// seen reports whether the rule of a test has labelled an object.
func (d definition) seen(t *testing.T, namespace, name string) bool {
	t.Helper()
	return field(get(t, d.gvr("v1"), namespace, name), "metadata", "labels", "seen") == "yes"
}

// lifecycle are a rule about things, and one about something else.
const lifecycle = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: life, namespace: NAMESPACE}
spec:
  resources:
    things: {group: GROUP, version: VERSION, resource: PLURAL}
    maps: {version: v1, resource: configmaps, labelSelector: life=yes}
  rules:
  - name: see
    watch: things
    actions: [{patch: {merge: {metadata: {labels: {seen: "yes"}}}}}]
  - name: other
    watch: maps
    when: object.data?.number != nil && object.data?.copy != object.data?.number
    actions: [{patch: {merge: {data: {copy: "${object.data?.number}"}}}}]
`

// rules are lifecycle about a version of things.
func (d definition) rules(version string) string {
	return strings.NewReplacer("GROUP", d.group(), "VERSION", version, "PLURAL", d.plural).Replace(lifecycle)
}

// others holds that the rule about something else acts.
func others(t *testing.T, namespace, n string) {
	t.Helper()
	if n == "1" {
		create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: other, labels: {life: "yes"}}, data: {number: "1"}}`)
	} else {
		edit(t, configmaps, namespace, "other", `{"data":{"number":"`+n+`"}}`)
	}
	eventually(t, "the other rule acts", func() bool { return field(get(t, configmaps, namespace, "other"), "data", "copy") == n })
}

// serve starts a process that says how it is doing.
func serve(t *testing.T, args ...string) *process {
	t.Helper()
	return start(t, append([]string{"--health-probe-bind-address", "127.0.0.1:0", "--metrics-bind-address", "127.0.0.1:0"}, args...)...)
}

var servingAt = regexp.MustCompile(`what=(health|metrics) address=(\S+)`)

// says is what a process answers, empty where it does not serve yet, or is not ready.
func (p *process) says(t *testing.T, what, path string) string {
	t.Helper()
	if address := p.address(what); address != "" {
		return answerOf(t, "http://"+address+path)
	}
	return ""
}

// address is where a process serves something, empty where it does not yet.
func (p *process) address(what string) string {
	for _, found := range servingAt.FindAllStringSubmatch(p.output.String(), -1) {
		if found[1] == what {
			return found[2]
		}
	}
	return ""
}

// answerOf is what a server says, empty where it is not ready.
func answerOf(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := virtual.Client(cluster(t)).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // It is only read.
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

// check is the line of readiness about something, empty while it is not ready.
func (p *process) check(t *testing.T, about string) string {
	t.Helper()
	for line := range strings.Lines(p.says(t, "health", "/readyz?verbose")) {
		if strings.HasPrefix(line[min(3, len(line)):], about+": ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// waits holds what readiness says of something in the end.
func (p *process) waits(t *testing.T, about string, parts ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("of %s it is said %q", about, parts), func() bool {
		line := p.check(t, about)
		for _, part := range parts {
			if !strings.Contains(line, part) {
				return false
			}
		}
		return line != ""
	})
}

// lines is how often the log has something since a moment.
func (p *process) lines(since int, parts ...string) (n int) {
	for line := range strings.Lines(p.output.String()[since:]) {
		has := true
		for _, part := range parts {
			has = has && strings.Contains(line, part)
		}
		if has {
			n++
		}
	}
	return n
}

// now is a moment of the log.
func (p *process) now() int { return len(p.output.String()) }

// calm holds that the log has few lines of trouble about things since a moment.
func (p *process) calm(t *testing.T, d definition, since, most int) {
	t.Helper()
	if n := p.lines(since, d.plural+"."); n > most {
		t.Errorf("the log has %d lines about it, want at most %d", n, most)
	}
}
