package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// canaries are the values of a Secret: nothing but the rules and the API server may have them. One is of two lines.
var canaries = []string{"canary-in-a-mine", "sparrow-on-a-roof", "pigeon-of-the-post"}

const canarySecret = `{apiVersion: v1, kind: Secret, metadata: {name: login}, stringData: {
	password: canary-in-a-mine, key: "sparrow-on-a-roof\npigeon-of-the-post\n"}}`

// tellsSecrets has a value go every way that it can go out of a rule. Only what copies is let through.
const tellsSecrets = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: tells, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps, labelSelector: told=yes}
    secrets: {version: v1, resource: secrets}
    templates: {version: v1, resource: podtemplates}
  rules:
  - name: copies
    watch: configmaps
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')", key: "fromBase64(login?.data?.key ?? '')"}
    when: password != ""
    actions:
    - patch: {merge: {data: {copy: "it is ${password}", key: "${key}"}}}
    - event: {reason: Copied, message: "it is ${password}, or ${toBase64(password)}, and ${toJSON(key)}"}
  - name: fails
    watch: configmaps
    with: {login: {resource: secrets, name: login}}
    when: duration(fromBase64(login?.data?.password ?? "")) == duration("1s")
    actions: [{event: {reason: Never, message: never}}]
  - name: unknown-field
    watch: configmaps
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    actions: [{patch: {merge: {metadata: {"${password}": "${password}"}}}}]
  - name: invalid-label
    watch: configmaps
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    actions: [{patch: {merge: {metadata: {labels: {"${password} !": x, a: "${password} !"}}}}}]
  - name: audits
    watch: configmaps
    mode: Audit
    with: {login: {resource: secrets, name: login}}
    actions: [{patch: {merge: {data: {audited: "${fromBase64(login?.data?.password ?? '')}"}}}}]
  - name: is-warned
    watch: configmaps
    with: {login: {resource: secrets, name: login}, found: {resource: templates, all: true}}
    let: {password: "fromBase64(login?.data?.password ?? '')", twice: "[{'name': password, 'value': 'a'}, {'name': password, 'value': 'b'}]"}
    when: password != "" && len(found) == 0
    actions:
    - create:
        in: found
        manifest: {metadata: {name: "${password}"}, template: {spec: {containers: [{name: a, image: a, env: "${twice}"}]}}}
  - name: fails-on-the-copy
    watch: configmaps
    when: object.data?.copy != nil && duration(object.data.copy) == duration("1s")
    actions: [{event: {reason: Never, message: never}}]
`

// TestSecretsAreToldNowhere runs the program itself as talkative as it can be, and looks for the values of a Secret in
// all that it says.
func TestSecretsAreToldNowhere(t *testing.T) {
	alongside(t)
	binary := program(t)
	cases := map[string]struct {
		reason  string
		args    []string
		ends    bool // by itself
		written bool
		told    []string // that show that there was something to tell
	}{
		"text": {"The log, Events and metrics.", []string{"-v", "9"}, false, true, []string{"write failed", "(masked)", `level="DEBUG-7"|level=DEBUG-`, `Warning: .*hides previous definition of .*masked`}},
		"JSON": {"The same as JSON.", []string{"-v", "9", "--logging-format", "json"}, false, true, []string{"write failed", `\(masked\)`}},
		"once": {"What is written, and the report.", []string{"-v", "9", "--once"}, true, true, []string{"patched configmaps", "failed configmaps"}},
		"server dry run": {
			"What would be written, as the API server answers.",
			[]string{"-v", "9", "--once", "--dry-run=server"},
			true, false,
			[]string{"would patch configmaps", `data.copy: none -> "\(masked\)"`, "would record Normal event Copied"},
		},
		"client dry run": {
			"And without it.",
			[]string{"-v", "9", "--once", "--dry-run=client"},
			true, false,
			[]string{"would patch configmaps", `data.copy: none -> "\(masked\)"`, `it is \(masked\), or \(masked\), and \(masked\)`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			create(t, secrets, namespace, canarySecret)
			create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: told, labels: {told: 'yes'}}, data: {}}")
			output := tell(t, binary, namespace, tc.ends, tc.args)
			for _, want := range tc.told {
				if !regexp.MustCompile(want).MatchString(output) {
					t.Errorf("%s\nnothing is told of %s:\n%s", tc.reason, want, output)
				}
			}
			tellsNone(t, "the output", output)
			copied := fmt.Sprint(field(get(t, configmaps, namespace, "told"), "data", "copy"))
			if written := copied == "it is "+canaries[0]; written != tc.written {
				t.Errorf("%s\nwhat is sent is masked, or was sent in a dry run: %s", tc.reason, copied)
			}
			list, err := client(t).Resource(events).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			tellsNone(t, "an Event", fmt.Sprint(list.Items))
			if told := strings.Contains(fmt.Sprint(list.Items), "it is (masked), or (masked), and"); told != tc.written {
				t.Errorf("%s\nthe Events are %v", tc.reason, list.Items)
			}
		})
	}
}

func tellsNone(t *testing.T, what, text string) {
	t.Helper()
	for _, value := range append(canaries, "Y2FuYXJ5LWluLWEtbWluZQ", "c3BhcnJvdy1vbi1hLXJvb2") {
		if at := strings.Index(text, value); at >= 0 {
			t.Errorf("%q is in %s: ...%s", value, what, text[max(0, at-200):min(len(text), at+200)])
		}
	}
}

// tell runs the program until it has ended or has told all there is, and returns what it wrote and served.
func tell(t *testing.T, binary, namespace string, ends bool, args []string) string {
	t.Helper()
	output := &buffer{}
	command := exec.CommandContext(t.Context(), binary, append([]string{
		"run", "--kubeconfig", cluster(t).Kubeconfig(), "--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "0",
		"--rules", rulesFile(t, namespace, tellsSecrets),
	}, args...)...)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() }) // It has ended, unless the test failed.
	metrics := ""
	if !ends {
		eventually(t, "the Event is there, and what is refused was tried", func() bool {
			return len(listEvents(t, namespace)) > 0 && strings.Contains(output.String(), "write failed") &&
				strings.Contains(output.String(), "fails-on-the-copy")
		})
		metrics = scrape(t, output.String())
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	_ = command.Wait() // Rules fail, so it ends with 1 if it ends by itself.
	return output.String() + metrics
}

// scrape reads the metrics from where the log says that they are.
func scrape(t *testing.T, log string) string {
	t.Helper()
	address := regexp.MustCompile(`address"?[=:]"?(127\.0\.0\.1:\d+)`).FindStringSubmatch(log)
	if address == nil {
		t.Fatalf("the log does not say where the metrics are:\n%s", log)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address[1]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), "dyncontroller_evaluations_total") {
		t.Fatalf("have %v, %s", err, body)
	}
	return string(body)
}
