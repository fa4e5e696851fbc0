package tenants

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// tells has the value of a Secret go every way that it can go out of a rule, CANARY is
// that value.
const tells = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: tells, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  params: {guess: CANARY}
  resources:
    seeds: {version: v1, resource: configmaps, labelSelector: role=seed}
    secrets: {version: v1, resource: secrets}
  rules:
  - name: copies
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != ""
    actions:
    - patch: {merge: {data: {copy: "it is ${password}"}}}
    - event: {reason: Copied, message: "it is ${password}, or ${toBase64(password)}, as ${params.guess} was to be"}
  - name: fails
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    when: duration(fromBase64(login?.data?.password ?? "")) == duration("1s")
    actions: [{event: {reason: Never, message: never}}]
  - name: guesses
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    when: fromBase64(login?.data?.password ?? "") == params.guess && duration(params.guess) == duration("1s")
    actions: [{event: {reason: Never, message: never}}]
  - name: invalid
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    actions: [{patch: {merge: {metadata: {labels: {a: "${password} !"}}}}}]
  - name: unknown
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    actions: [{patch: {merge: {metadata: {"${password}": "${password}"}}}}]
  - name: remembers
    watch: seeds
    when: object.data?.copy != nil && duration(object.data.copy) == duration("1s")
    actions: [{event: {reason: Never, message: never}}]
`

// namedByIt is another set of the same account, which has objects and fields be called by the value.
const namedByIt = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: named, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    seeds: {version: v1, resource: configmaps, labelSelector: role=seed}
    made: {version: v1, resource: configmaps}
    drawn: {version: v1, resource: configmaps, labelSelector: role=drawn}
    secrets: {version: v1, resource: secrets}
  rules:
  - name: names
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != ""
    actions:
    - apply:
        resource: made
        manifest:
          metadata: {name: "${password}", labels: {"${password}": "${password}"}, annotations: {"${password}": x}}
          data: {"${password}": "${password}"}
  - name: refused
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != ""
    actions: [{apply: {resource: made, manifest: {metadata: {name: fixed, finalizers: ["${upper(password)}"]}}}}]
  - name: misnamed
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != ""
    actions: [{apply: {resource: made, manifest: {metadata: {name: "${upper(password)}"}}}}]
  - name: generates
    watch: seeds
    with: {login: {resource: secrets, name: login}, drawn: {resource: drawn, all: true}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != "" && len(drawn) == 0
    actions: [{create: {in: drawn, manifest: {metadata: {generateName: "${password}-", labels: {role: drawn}}}}}]
  - name: repeats
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != ""
    actions:
    - forEach: {word: "${['a', 'b']}"}
      apply: {resource: made, manifest: {metadata: {name: "${word}-${password}"}, data: {"${word}-${password}": "${toBase64(password)}"}}}
  - name: elsewhere
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != ""
    actions: [{apply: {resource: made, owned: false, manifest: {metadata: {namespace: "${password}", name: there}}}}]
  - name: points
    watch: seeds
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != ""
    actions: [{patch: {json: [{op: add, path: "/metadata/annotations", value: {}}, {op: test, path: "/data/${password}", value: none}]}}]
  - name: finds
    watch: seeds
    with:
      login: {resource: secrets, name: login}
      found: {resource: made, name: "${fromBase64(login?.data?.password ?? '')}"}
    actions:
    - patch: {target: found, merge: {data: {found: found}}}
    - event: {reason: Found, message: "it is ${found?.metadata?.name ?? 'none'}"}
`

const login = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: NAMESPACE}\ntype: Opaque\ndata: {password: BASE64}\n"

const toldSeed = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told, namespace: NAMESPACE, labels: {role: seed}}\n"

// canary is the value of a Secret in a namespace, which nothing but the rules and the API
// server may have.
type canary struct {
	namespace, value string
	since            time.Time
}

// in writes what is known of it into a text.
func (c canary) in(text string) string {
	return strings.NewReplacer("NAMESPACE", c.namespace, "CANARY", c.value, "BASE64", base64.StdEncoding.EncodeToString([]byte(c.value))).Replace(text)
}

// silent holds that a text does not have the value, also not as base64 from any of the
// three places where it may begin.
func (c canary) silent(t *testing.T, where, text string) {
	t.Helper()
	forms := []string{c.value, strings.ToUpper(c.value)}
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + c.value))
		forms = append(forms, encoded[4:len(encoded)-4]) // Without what depends on what is around it.
	}
	for _, form := range forms {
		if at := strings.Index(text, form); at >= 0 {
			t.Errorf("%s has %q: ...%s", where, form, text[max(0, at-300):min(len(text), at+300)])
		}
	}
}

// TestCanary holds that the value of a Secret that a set may read, and lets out in every
// way, is told nowhere.
func TestCanary(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			alongside(t)
			c := newCanary(t)
			flags := []string{
				"run", "--kubeconfig", cluster(t).Kubeconfig(), "--rules-from-cluster", "-v", "9", "--logging-format", format,
				"--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "127.0.0.1:0",
			}
			for _, mode := range []string{"client", "server"} {
				c.once(t, append(flags, "--once", "--dry-run="+mode), "copy")
			}
			p := launch(t, cluster(t), flags...)
			defer p.stop(t)
			c.sung(t)
			served := p.serves(t, "metrics", "/metrics") + p.serves(t, "health", "/readyz?verbose")
			p.stop(t)
			for _, part := range []string{"write failed", "(masked", "DEBUG"} {
				if !strings.Contains(p.output.String(), part) {
					t.Errorf("nothing is logged of %q", part)
				}
			}
			c.silent(t, "the log", p.output.String())
			c.silent(t, "what is served", served)
			c.once(t, append(flags, "--once"), "failed")
			c.looked(t)
			for _, set := range []string{"ruleset/tells", "ruleset/named"} {
				kubectl(t, controlPlane(t), "patch", set, "-n", c.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
				kubectl(t, controlPlane(t), "delete", set, "-n", c.namespace)
			}
		})
	}
}

func newCanary(t *testing.T) canary {
	t.Helper()
	c := canary{cluster(t).Namespace(t), "canary-" + strings.ToLower(rand.Text()), time.Now()}
	account(t, cluster(t), c.namespace, "bot", editor, mayTell, `{apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}`)
	for _, text := range []string{login, toldSeed, tells, namedByIt} {
		apply(t, cluster(t), c.namespace, c.in(text))
	}
	return c
}

// once runs until there is nothing left to do, and holds that it says something but not
// the value.
func (c canary) once(t *testing.T, flags []string, says string) {
	t.Helper()
	p := launch(t, cluster(t), flags...)
	if code := p.code(); code != 1 {
		t.Errorf("%v ended with %d", flags, code)
	}
	if !strings.Contains(p.output.String(), says) || !strings.Contains(p.output.String(), "(masked") {
		t.Errorf("%v says nothing:\n%s", flags, p.output)
	}
	c.silent(t, fmt.Sprint(flags), p.output.String())
}

// sung waits until the value has gone all its ways.
func (c canary) sung(t *testing.T) {
	t.Helper()
	failed := func(set string) (n int) {
		all, _ := field(get(t, cluster(t), ruleSets, c.namespace, set), "status", "rules").([]any)
		for _, element := range all {
			if said, _ := element.(map[string]any)["lastError"].(string); said != "" {
				n++
			}
		}
		return n
	}
	eventually(t, "all rules have acted or failed, and say so", func() bool {
		notes := kubectl(t, controlPlane(t), "get", "events.events.k8s.io", "-n", c.namespace, "-o", `jsonpath={range .items[*]}{.note}{"\n"}{end}`)
		made := kubectl(t, controlPlane(t), "get", "configmaps", "-n", c.namespace, "-o", "name")
		for _, name := range []string{"/", "/a-", "/b-"} { // And one with what is generated.
			if !strings.Contains(made, name+c.value+"\n") || !strings.Contains(made, "/"+c.value+"-") {
				return false
			}
		}
		return failed("tells") == 5 && failed("named") == 4 && strings.Contains(notes, "it is (masked)\n") && strings.Contains(notes, "it is (masked), or (masked), as (masked) was to be") &&
			field(get(t, cluster(t), configmaps, c.namespace, "told"), "data", "copy") == "it is "+c.value
	})
}

// looked goes through all that the API server has of it. Requests have the names of the objects
// that rules name by it.
func (c canary) looked(t *testing.T) {
	t.Helper()
	c.silent(t, "an Event", kubectl(t, controlPlane(t), "get", "events.events.k8s.io", "-A", "-o", "yaml"))
	c.silent(t, "a status", kubectl(t, controlPlane(t), "get", "rulesets,clusterrulesets", "-A", "-o", "jsonpath={.items[*].status}"))
	for _, r := range requests(t, c.since) {
		if !strings.Contains(r.RequestURI, "/configmaps/") {
			c.silent(t, "an address", r.RequestURI+" "+r.UserAgent)
		}
	}
}

var servingAny = regexp.MustCompile(`what"?[=:]"?(health|metrics)"?[ ,]"?address"?[=:]"?(127[^" ,\s]+)`)

// serves is what the process answers at one of its addresses.
func (p *process) serves(t *testing.T, what, path string) string {
	t.Helper()
	for _, found := range servingAny.FindAllStringSubmatch(p.output.String(), -1) {
		if found[1] == what {
			return fetched(t, "http://"+found[2]+path)
		}
	}
	t.Fatalf("it does not say where it serves %s", what)
	return ""
}

func fetched(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || len(body) == 0 {
		t.Fatalf("%s answers %q: %v", address, body, err)
	}
	return string(body)
}

// TestCanaryOffline holds the same of what eval shows of these rules, and of the goldens
// that test writes.
func TestCanaryOffline(t *testing.T) {
	t.Parallel()
	c := canary{namespace: "shop", value: "canary-" + strings.ToLower(rand.Text())}
	directory := t.TempDir()
	for name, text := range map[string]string{
		"rules.yaml": tells, "named.yaml": namedByIt, "secret.yaml": login, "told.yaml": toldSeed,
		"test.yaml": "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleTest\nmetadata: {name: tells}\n" +
			"spec:\n  rules: [rules.yaml, named.yaml]\n  cases: [{name: told, objects: [told.yaml, secret.yaml]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(c.in(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(directory, name) }
	for _, arguments := range [][]string{
		{"eval", "--rules", at("rules.yaml"), "--object", at("told.yaml"), "--related", at("secret.yaml")},
		{"eval", "--rules", at("named.yaml"), "--object", at("told.yaml"), "--related", at("secret.yaml")},
		{"explain", "named/names", "--rules", at("named.yaml"), "--object", at("told.yaml"), "--related", at("secret.yaml")},
		{"explain", "named/repeats", "--rules", at("named.yaml"), "--object", at("told.yaml"), "--related", at("secret.yaml"), "-o", "json"},
		{"eval", "--expression", `fromBase64(object.data.password)`, "--object", at("secret.yaml")},
		{"test", at("test.yaml"), "--update"},
		{"test", "-v", at("test.yaml"), "-o", "json"},
	} {
		program := command(t, arguments...)
		program.Env = append(program.Env, "CI=false") // Else goldens are not written.
		p := run(t, program)
		if code := p.code(); code > 1 || p.output.String() == "" {
			t.Errorf("%v ended with %d:\n%s", arguments, code, p.output)
		}
		c.silent(t, fmt.Sprint(arguments), p.output.String())
		if arguments[0] == "eval" && !strings.Contains(p.output.String(), "(masked") {
			t.Errorf("%v masks nothing:\n%s", arguments, p.output)
		}
	}
	data, err := os.ReadFile(at("golden/told.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	golden := string(data)
	if !strings.Contains(golden, "(masked") {
		t.Errorf("the golden masks nothing:\n%s", golden)
	}
	c.silent(t, "the golden", golden)
}
