package tenants

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// noticed is how long after a right was taken away a set must say so.
const noticed = 90 * time.Second

var limitranges = schema.GroupVersionResource{Version: "v1", Resource: "limitranges"}

// town is what the tests of rights play in: two RuleSets of one account in one namespace,
// one of another account in another, and a ClusterRuleSet of a third account that labels
// the ConfigMaps of both. Each of them copies an annotation to a label of its own.
type town struct {
	mine, theirs, home string // namespaces
	process            *process
}

// painter is a RuleSet that copies the annotation color to the label painted.
func painter(name, account, resource string) string {
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: ` + name + `, namespace: NAMESPACE}
spec:
  serviceAccountName: ` + account + `
  resources:
    things: {version: v1, resource: ` + resource + `}
  rules:
  - name: color
    watch: things
    when: object.metadata.annotations.color != nil
    actions:
    - patch: {merge: {metadata: {labels: {painted: "${object.metadata.annotations.color}"}}}}
`
}

// saying is a second rule of it, which writes nothing that the first needs the right for.
const saying = `  - name: say
    watch: things
    when: object.metadata.annotations.color != nil
    actions:
    - event: {reason: Painted, message: "it is to be ${object.metadata.annotations.color}"}
`

const mayPaint = `{apiGroups: [""], resources: [limitranges], verbs: [get, list, watch, patch]},
  {apiGroups: [events.k8s.io], resources: [events], verbs: [get, create, update]}`

// may is what a bot may do to ConfigMaps, besides painting.
func may(verbs string) string {
	return `{apiGroups: [""], resources: [configmaps], verbs: [` + verbs + `]}, ` + mayPaint
}

func newTown(t *testing.T) town {
	t.Helper()
	out := town{mine: cluster(t).Namespace(t), theirs: cluster(t).Namespace(t), home: cluster(t).Namespace(t)}
	for _, namespace := range []string{out.mine, out.theirs} {
		account(t, cluster(t), namespace, "bot", may("get, list, watch, patch"))
		apply(t, cluster(t), namespace, painter("guard", "bot", "configmaps")+saying)
		apply(t, cluster(t), namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NAMESPACE, annotations: {color: red}}\n")
	}
	apply(t, cluster(t), out.mine, painter("other", "bot", "limitranges"))
	apply(t, cluster(t), out.mine, "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: NAMESPACE, annotations: {color: red}}\nspec: {limits: []}\n")
	out.process = startLooking(t, cluster(t), often, "--health-probe-bind-address", "127.0.0.1:0")
	out.settle(t)
	ready(t, cluster(t), ruleSets, out.mine, "other") // From here on it stays so.
	out.paint(t, "blue")
	out.others(t, "blue")
	out.painted(t, "blue")
	return out
}

// settle adds the ClusterRuleSet, which is gone before the process is.
func (s town) settle(t *testing.T) {
	t.Helper()
	account(t, cluster(t), s.home, "bot")
	for _, namespace := range []string{s.mine, s.theirs} {
		apply(t, cluster(t), namespace, role("visitor", `{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, patch]}`)+`---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: visitor, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: visitor}
subjects: [{kind: ServiceAccount, name: bot, namespace: `+s.home+`}]
`)
	}
	apply(t, cluster(t), s.home, `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: NAMESPACE}
spec:
  serviceAccountName: bot
  serviceAccountNamespace: NAMESPACE
  resources:
    configmaps: {version: v1, resource: configmaps, namespaces: [`+s.mine+", "+s.theirs+`]}
  rules:
  - name: color
    watch: configmaps
    when: object.metadata.annotations.color != nil
    actions:
    - patch: {merge: {metadata: {labels: {visited: "${object.metadata.annotations.color}"}}}}
`)
	gone(t, clusterRuleSets, s.home)
}

// gone deletes a cluster-scoped object at the end of the test.
func gone(t *testing.T, of schema.GroupVersionResource, name string) {
	t.Helper()
	t.Cleanup(func() {
		if err := client(t, cluster(t)).Resource(of).Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting %s %s: %v", of.Resource, name, err)
		}
	})
}

// paint asks for another color everywhere.
func (s town) paint(t *testing.T, color string) {
	t.Helper()
	patch := `{"metadata": {"annotations": {"color": "` + color + `"}}}`
	edit(t, cluster(t), configmaps, s.mine, "a", patch)
	edit(t, cluster(t), configmaps, s.theirs, "a", patch)
	edit(t, cluster(t), limitranges, s.mine, "a", patch)
}

func label(t *testing.T, gvr schema.GroupVersionResource, namespace, key string) any {
	t.Helper()
	return field(get(t, cluster(t), gvr, namespace, "a"), "metadata", "labels", key)
}

// others waits until all have painted but for the set whose rights the test is about.
func (s town) others(t *testing.T, color string) {
	t.Helper()
	eventually(t, "the others paint it "+color, func() bool {
		return label(t, configmaps, s.theirs, "painted") == color && label(t, limitranges, s.mine, "painted") == color &&
			label(t, configmaps, s.mine, "visited") == color && label(t, configmaps, s.theirs, "visited") == color
	})
	if status, _, message := condition(t, cluster(t), ruleSets, s.mine, "other", "Ready"); status != "True" {
		t.Errorf("the set of the same account that has all its rights is not ready: %s", message)
	}
}

// painted waits for the set whose rights the test is about.
func (s town) painted(t *testing.T, color string) {
	t.Helper()
	eventually(t, "guard paints it "+color, func() bool { return label(t, configmaps, s.mine, "painted") == color })
	s.ready(t)
}

func (s town) ready(t *testing.T) {
	t.Helper()
	eventually(t, "guard is ready", func() bool {
		status, _, _ := condition(t, cluster(t), ruleSets, s.mine, "guard", "Ready")
		stalled, _, _ := condition(t, cluster(t), ruleSets, s.mine, "guard", "Stalled")
		return status == "True" && stalled == ""
	})
	if lacks := missing(t, s.mine, "guard"); len(lacks) > 0 {
		t.Errorf("a set that is ready lacks %v", lacks)
	}
}

// degraded waits for the status of guard to say what is missing, no longer than is
// promised, and checks that it says that and nothing else.
func (s town) degraded(t *testing.T, taken time.Time, wantMissing map[string][]string, lines ...string) {
	t.Helper()
	var message string
	within(t, noticed-time.Since(taken), "guard is degraded", func() bool {
		status, reason, text := condition(t, cluster(t), ruleSets, s.mine, "guard", "Ready")
		message = text
		return status == "False" && reason == "Degraded"
	})
	t.Logf("degraded %s after the right was taken away", time.Since(taken).Round(time.Millisecond))
	if diff := cmp.Diff(strings.Join(lines, "\n"), message); diff != "" {
		t.Errorf("the message of Ready (-want +got):\n%s", diff)
	}
	if status, reason, text := condition(t, cluster(t), ruleSets, s.mine, "guard", "Stalled"); status != "True" || reason != "Degraded" || text != message {
		t.Errorf("Stalled is %q for the reason %q: %s", status, reason, text)
	}
	if diff := cmp.Diff(wantMissing, missing(t, s.mine, "guard")); diff != "" {
		t.Errorf("what the rules lack (-want +got):\n%s", diff)
	}
}

// missing is what the status of a RuleSet says that its rules lack, by rule.
func missing(t *testing.T, namespace, name string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	all, _ := field(get(t, cluster(t), ruleSets, namespace, name), "status", "rules").([]any)
	for _, element := range all {
		rule, _ := element.(map[string]any)
		lacks, _ := rule["missing"].([]any)
		for _, element := range lacks {
			right, _ := element.(map[string]any)
			var words []string
			for _, key := range []string{"verb", "group", "resource", "subresource", "namespace", "name"} {
				if word, _ := right[key].(string); word != "" {
					words = append(words, word)
				}
			}
			of, _ := rule["name"].(string)
			out[of] = append(out[of], strings.Join(words, " "))
		}
	}
	return out
}

var serving = regexp.MustCompile(`msg=serving what=health address=(\S+)`)

// cache is what the process says of a cache of an account: the line of readyz.
func (p *process) cache(t *testing.T, selection, account string) string {
	t.Helper()
	found := serving.FindStringSubmatch(p.output.String())
	if found == nil {
		t.Fatal("the process does not say where it serves")
	}
	_, body := answer(t, virtual.Client(cluster(t)), "http://"+found[1]+"/readyz?verbose", "")
	lines := strings.Split(body, "\n")
	about := "informer " + selection + " as " + account + ": "
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, about) })
	if at < 0 {
		t.Fatalf("the process does not know %q:\n%s", about, body)
	}
	mark, rest, _ := strings.Cut(lines[at], about)
	return mark + rest
}
