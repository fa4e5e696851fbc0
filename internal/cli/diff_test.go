//go:build !operator

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

// painted is what a rule that wants blue makes of a red ConfigMap.
const painted = `--- configmaps default/a	live
+++ configmaps default/a	shop/color
@@ -1,7 +1,7 @@
 apiVersion: v1
 data:
-  color: red
+  color: blue
 kind: ConfigMap
 metadata:
   name: a
   namespace: default
`

func TestDiff(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason         string
		rules          string
		args           []string
		refuse         string
		code           int
		stdout, stderr string
	}{
		"Changes": {
			reason: "What would change is shown as a patch.", rules: colors("blue"), code: exitFinding,
			stdout: painted, stderr: "1 object looked at: 1 would change\n",
		},
		"Nothing": {
			reason: "What is right differs in nothing.", rules: colors("red"), stderr: "1 object looked at: nothing would change\n",
		},
		"Colored": {
			reason: "Lines are coloured as git does.", rules: colors("blue"), args: []string{"--color=always"}, code: exitFinding,
			stdout: strings.NewReplacer(
				"--- configmaps default/a\tlive\n", "\x1b[1m--- configmaps default/a\tlive\x1b[0m\n",
				"+++ configmaps default/a\tshop/color\n", "\x1b[1m+++ configmaps default/a\tshop/color\x1b[0m\n",
				"@@ -1,7 +1,7 @@\n", "\x1b[36m@@ -1,7 +1,7 @@\x1b[0m\n",
				"-  color: red\n", "\x1b[31m-  color: red\x1b[0m\n", "+  color: blue\n", "\x1b[32m+  color: blue\x1b[0m\n",
			).Replace(painted),
			stderr: "1 object looked at: 1 would change\n",
		},
		"Audited": {
			reason: "A rule in mode Audit changes nothing.", rules: strings.Replace(colors("blue"), "spec:\n", "spec:\n  mode: Audit\n", 1),
			stderr: "1 object looked at: nothing would change\n",
		},
		"For": {
			reason: "No timer is waited for, and that is told.", rules: strings.Replace(colors("blue"), "    actions:", "    for: 1s\n    actions:", 1),
			stderr: "1 object not waited for: a rule with \"for\" acts only once its condition has held for so long\n" +
				"1 object looked at: nothing would change\n",
		},
		"Refused": {
			reason: "What the API server refuses is trouble, not a difference.", rules: colors("blue"), refuse: "not on a friday", code: exitUsage,
			stderr: "dyncontroller: failed configmaps default/a: shop/color: writing configmaps default/a: not on a friday\n" +
				"1 object looked at: nothing would change, 1 failure\n",
		},
		"WrongRules": {
			reason: "Neither are rules that are wrong.", rules: "kind: Nothing\n", code: exitUsage,
			stderr: "FILE:1:7: kind: unknown kind \"Nothing\"\n  1 | kind: Nothing\n    |       ^^^^^^^\n" +
				"  hint: rules are of kind RuleSet or ClusterRuleSet\n",
		},
		"WrongFlag": {
			reason: "Nor are words that nobody knows.", rules: colors("blue"), args: []string{"--color=red"}, code: exitUsage,
			stderr: "dyncontroller: --color: want auto or always or never, have \"red\"\nRun 'dyncontroller diff --help' for usage.\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPIServer(t)
			api.configMap("a", map[string]any{"color": "red"})
			api.set(func(a *apiServer) { a.refuse = tc.refuse })
			file := ruleFile(t, tc.rules)
			code, stdout, stderr := invoke(t, append([]string{"diff", "--kubeconfig", api.kubeconfig(), "--rules", file}, tc.args...)...)
			stderr = strings.ReplaceAll(stderr, file, "FILE")
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("%s: want exit code %d, got %d\n-want +got:\n%s%s", tc.reason, tc.code, code, cmp.Diff(tc.stdout, stdout), cmp.Diff(tc.stderr, stderr))
			}
			if got := api.data("a"); !cmp.Equal(got, map[string]any{"color": "red"}) {
				t.Errorf("something was stored: %v", got)
			}
		})
	}
}

func TestDiffJSON(t *testing.T) {
	t.Parallel()
	api := newAPIServer(t)
	api.configMap("a", map[string]any{"color": "red"})
	code, stdout, _ := invoke(t, "diff", "--kubeconfig", api.kubeconfig(), "--rules", ruleFile(t, colors("blue")), "-o", "json")
	var got map[string][]map[string]any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitFinding {
		t.Fatalf("exit code %d, %v:\n%s", code, err, stdout)
	}
	object := func(color string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"color": color},
			"metadata": map[string]any{"namespace": "default", "name": "a"},
		}
	}
	want := map[string][]map[string]any{"changes": {{
		"change": "update", "resource": "configmaps.v1", "namespace": "default", "name": "a", "rules": []any{"shop/color"},
		"before": object("red"), "after": object("blue"),
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDiffCounts holds that what stays is only counted if any rule reads Secrets: what it has copied before nobody knows.
func TestDiffCounts(t *testing.T) {
	t.Parallel()
	reads := "  - name: copy\n    watch: configmaps\n    with: {secret: {resource: secrets, name: s}}\n    when: secret != nil\n    actions: [{event: {reason: Read, message: read}}]\n"
	for name, tc := range map[string]struct {
		rules, want string
	}{
		"NoSecrets": {colors("blue"), " data:\n-  color: red\n+  color: blue\n   copy: hunter2\n kind"},
		"Secrets": {
			strings.Replace(colors("blue"), "  rules:\n", "    secrets: {version: v1, resource: secrets}\n  rules:\n", 1) + reads,
			" data:\n-  color: red\n+  color: blue\n   # 1 unchanged\n kind",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPIServer(t)
			api.configMap("a", map[string]any{"color": "red", "copy": "hunter2"})
			_, stdout, stderr := invoke(t, "diff", "--kubeconfig", api.kubeconfig(), "--rules", ruleFile(t, tc.rules), "--cache-sync-timeout=1s")
			if !strings.Contains(stdout, tc.want) {
				t.Errorf("want %q in\n%s%s", tc.want, stdout, stderr)
			}
		})
	}
}

// TestDiffExternal holds what another program is given, and that its exit code 1 is no error.
func TestDiffExternal(t *testing.T) {
	t.Parallel()
	api := newAPIServer(t)
	api.configMap("a", map[string]any{"color": "red"})
	program := filepath.Join(t.TempDir(), "compare")
	script := "#!/bin/sh\nprintf '%s\\n' \"$1\"; grep -h color \"$2\"/configmaps.v1.default.a \"$3\"/configmaps.v1.default.a\nexit 1\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // It is run.
		t.Fatal(err)
	}
	var out, errOut output
	code := Run(t.Context(), Process{
		Args:  []string{"diff", "--kubeconfig", api.kubeconfig(), "--rules", ruleFile(t, colors("blue"))},
		Env:   append(os.Environ(), "KUBECTL_EXTERNAL_DIFF="+program+" -u --x;y"),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
	})
	if want := "-u\n  color: red\n  color: blue\n"; code != exitFinding || out.String() != want {
		t.Errorf("want exit code %d and %q, got %d and %q, %q", exitFinding, want, code, out.String(), errOut.String())
	}
}

// TestDiffPrepares holds what is shown of a difference: no value of a Secret, and of what does not change just which object it is.
func TestDiffPrepares(t *testing.T) {
	t.Parallel()
	config := func(data map[string]any, more ...any) map[string]any {
		metadata := map[string]any{"name": "a", "uid": "1", "resourceVersion": "2"}
		for i := 0; i < len(more); i += 2 {
			metadata[more[i].(string)] = more[i+1]
		}
		out := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
		if data != nil {
			out["data"] = data
		}
		return out
	}
	shown := func(data map[string]any, more ...any) map[string]any {
		out := config(data, more...)
		delete(out["metadata"].(map[string]any), "uid")
		delete(out["metadata"].(map[string]any), "resourceVersion")
		return out
	}
	secret := func(of map[string]any) map[string]any {
		of["kind"] = "Secret"
		return of
	}
	copied := &redact.Values{}
	copied.Learn(secret(config(map[string]any{"password": "aHVudGVyMg=="})))
	type fields = map[string]any
	containers := func(all ...any) map[string]any {
		return fields{"apiVersion": "v1", "kind": "Pod", "metadata": fields{"name": "a"}, "spec": fields{"containers": all}}
	}
	cases := map[string]struct {
		reason                string
		before, after         map[string]any
		hidden                *redact.Values
		wantBefore, wantAfter map[string]any
		derived               plan.Derived
	}{
		"Derived": {
			reason: "What is made of a Secret is a spelling of none of its values.", derived: plan.Derived{{Path: plan.Path{"data", "part"}}},
			before: config(fields{"part": "x", "b": "1"}), after: config(fields{"part": "y", "b": "2"}), hidden: &redact.Values{},
			wantBefore: shown(fields{"part": "(masked) before", "b": "1"}), wantAfter: shown(fields{"part": "(masked) after", "b": "2"}),
		},
		"Changes": {
			reason: "What does not change is left out.",
			before: config(fields{"a": "1", "b": "1"}), after: config(fields{"a": "1", "b": "2"}), hidden: &redact.Values{},
			wantBefore: shown(fields{"b": "1"}), wantAfter: shown(fields{"b": "2"}),
		},
		"Element": {
			reason: "An element of a list is known by its name.",
			before: containers(fields{"name": "app", "image": "v1", "tty": true}, fields{"name": "other"}),
			after:  containers(fields{"name": "app", "image": "v2", "tty": true}, fields{"name": "other"}), hidden: &redact.Values{},
			wantBefore: containers(fields{"name": "app", "image": "v1"}), wantAfter: containers(fields{"name": "app", "image": "v2"}),
		},
		"EmptyMap": {
			reason: "A map that is there differs from none; one to which something is added does not show as empty.",
			before: config(fields{"a": fields{}}), after: config(fields{"a": fields{"b": "1"}, "c": fields{}}), hidden: &redact.Values{},
			wantBefore: shown(nil), wantAfter: shown(fields{"a": fields{"b": "1"}, "c": fields{}}),
		},
		"Created": {
			reason: "Of a new object all is shown.", after: config(fields{"a": "1"}), hidden: &redact.Values{}, wantAfter: shown(fields{"a": "1"}),
		},
		"Deleted": {
			reason: "One that goes may have copies of a Secret that is gone.", before: config(fields{"password": "hunter2"}), hidden: &redact.Values{},
			wantBefore: shown(nil),
		},
		"Secret": {
			reason: "A Secret tells which of its values differ.", hidden: &redact.Values{},
			before: secret(config(fields{"password": "b2xk"})), after: secret(config(fields{"password": "bmV3"})),
			wantBefore: secret(shown(fields{"password": "(masked) before"})), wantAfter: secret(shown(fields{"password": "(masked) after"})),
		},
		"Copy": {
			reason: "The value that a Secret had before is not known.", hidden: copied,
			before: config(fields{"password": "hunter1"}), after: config(fields{"password": "hunter2"}),
			wantBefore: shown(fields{"password": "(masked) before"}), wantAfter: shown(fields{"password": "(masked) after"}),
		},
		"Names": {
			reason: "A name of a field may be a copy too.", hidden: copied,
			before: config(fields{"hunter2-and-more": "a"}), after: config(fields{"hunter2-and-more": "b"}),
			wantBefore: shown(fields{"hunter2-and-more": "(masked)"}), wantAfter: shown(fields{"hunter2-and-more": "b"}),
		},
		"CleanedUp": {
			reason: "Nothing is known of what a rule that is gone has read. Finalizers are no values.", hidden: nil,
			before:     config(fields{"password": "hunter2"}, "finalizers", []any{"x.io/a", "x.io/b"}),
			after:      config(nil, "finalizers", []any{"x.io/a"}),
			wantBefore: shown(fields{"password": "(masked)"}, "finalizers", []any{"x.io/b"}), wantAfter: shown(nil),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := &difference{written: written{Object: plan.Object{Name: "a"}}, before: tc.before, after: tc.after, hidden: []*redact.Values{tc.hidden}, derived: tc.derived}
			if !one.prepare(compare.Only) {
				t.Fatalf("%s: there is nothing to show", tc.reason)
			}
			if diff := cmp.Diff([]fields{tc.wantBefore, tc.wantAfter}, []fields{one.before, one.after}); diff != "" {
				t.Errorf("%s -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if same := (&difference{before: config(nil), after: config(nil, "managedFields", []any{fields{"manager": "x"}}), hidden: []*redact.Values{{}}}); same.prepare(compare.Only) {
		t.Errorf("an object of which just the owners change is shown: %v", same)
	}
}

// TestDiffText holds how a difference reads: what stays is there or counted, a deletion is one line, and no copy of a Secret is seen.
func TestDiffText(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	pod := func(name string, spec fields, metadata ...any) fields {
		out := fields{"apiVersion": "v1", "kind": "Pod", "metadata": fields{"name": name, "namespace": "shop", "uid": "uid-" + name}, "spec": spec}
		for i := 0; i < len(metadata); i += 2 {
			out["metadata"].(fields)[metadata[i].(string)] = metadata[i+1]
		}
		return out
	}
	before := pod("a", fields{"nodeSelector": fields{"disk": "ssd", "zone": "a"}, "priority": 1, "restartPolicy": "Always"})
	after := pod("a", fields{"nodeSelector": fields{"disk": "ssd"}, "priority": 1, "restartPolicy": "Always"})
	counted := "--- pods shop/a\tlive\n+++ pods shop/a\tset/rule\n@@ -1,10 +1,9 @@\n apiVersion: v1\n kind: Pod\n metadata:\n   name: a\n   namespace: shop\n" +
		" spec:\n   nodeSelector:\n-    zone: VALUE\n     # 1 unchanged\n   # 2 unchanged\n"
	copied := &redact.Values{}
	copied.Learn(fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "s"}, "data": fields{"password": "aHVudGVyMg=="}})
	cases := map[string]struct {
		reason        string
		before, after fields
		hidden        *redact.Values
		secrets       bool
		delete        plan.Deletion
		owned         fields
		want          string
	}{
		"Changes": {
			reason: "The map of which one field goes is still there.", before: before, after: after, hidden: &redact.Values{},
			want: "--- pods shop/a\tlive\n+++ pods shop/a\tset/rule\n@@ -1,11 +1,10 @@\n apiVersion: v1\n kind: Pod\n metadata:\n   name: a\n   namespace: shop\n" +
				" spec:\n   nodeSelector:\n     disk: ssd\n-    zone: a\n   priority: 1\n   # 1 unchanged\n",
		},
		"Secrets": {
			reason: "Where a rule reads Secrets, what stays may be a copy of one, and is counted.", before: before, after: after, hidden: &redact.Values{},
			secrets: true, want: strings.Replace(counted, "VALUE", "a", 1),
		},
		"Copy": {
			reason: "So it is where this rule has read one.", before: before, after: after, hidden: copied,
			want: strings.Replace(counted, "VALUE", `"(masked)"`, 1),
		},
		"CleanedUp": {
			reason: "Or where nobody knows what a rule has read.", before: before, after: after,
			want: strings.Replace(counted, "VALUE", `"(masked)"`, 1),
		},
		"Child": {
			reason: "What makes a new object a child of a rule is told in words.", hidden: &redact.Values{},
			after: pod("a", fields{"priority": 1},
				"labels", fields{"app": "x", plan.LabelOwnerUID: "u", plan.LabelRule: "rule", plan.LabelSet: "set"},
				"ownerReferences", []any{fields{"kind": "Job", "uid": "u"}}),
			want: "--- /dev/null\tlive\n+++ pods shop/a\tset/rule\n@@ -0,0 +1,10 @@\n+apiVersion: v1\n+kind: Pod\n+metadata:\n+  labels:\n+    app: x\n" +
				"+  name: a\n+  namespace: shop\n+  # ownership (labels and ownerReferences)\n+spec:\n+  priority: 1\n",
		},
		"Deleted": {reason: "A deletion is one line.", before: before, hidden: &redact.Values{}, want: "delete pods shop/a (set/rule)\n"},
		"Finalizers": {
			reason: "What keeps it is told.", before: pod("a", nil, "finalizers", []any{"x.io/a", "x.io/b"}), hidden: &redact.Values{},
			want: "delete pods shop/a (set/rule): it stays until its finalizers are removed: x.io/a, x.io/b\n",
		},
		"Owned": {
			reason: "So is what goes with it.", before: before, hidden: &redact.Values{},
			owned: pod("b", nil, "ownerReferences", []any{fields{"uid": "uid-a"}}),
			want:  "delete pods shop/a (set/rule), with 1 object that it owns\ndelete pods shop/b (set/rule)\n",
		},
		"Orphans": {
			reason: "Or stays.", before: before, hidden: &redact.Values{}, delete: plan.Deletion{PropagationPolicy: "Orphan"},
			want: "delete pods shop/a (set/rule), without what it owns\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDiffer(Process{}, false)
			of := func(object fields) plan.Operation {
				target := plan.Object{Namespace: "shop", Name: "a"}
				if object != nil {
					target.Name = plan.Text(object, "metadata", "name")
				}
				target.GVR.Version, target.GVR.Resource = "v1", "pods"
				return plan.Operation{Type: plan.Delete, Target: target, Rules: []plan.Rule{{Set: "set", Name: "rule"}}, Body: tc.delete}
			}
			operation := of(tc.before)
			if tc.after != nil {
				operation.Type = plan.Merge
			}
			d.keep(operation, tc.before, tc.after, tc.hidden)
			if tc.owned != nil {
				d.keep(of(tc.owned), tc.owned, nil, tc.hidden)
			}
			got := ""
			for _, one := range d.list(tc.secrets) {
				text, err := one.text()
				if err != nil {
					t.Fatal(err)
				}
				got += text
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDiffProgress holds what a user at a terminal reads while waiting.
func TestDiffProgress(t *testing.T) {
	t.Parallel()
	d := newDiffer(Process{}, false)
	if got, want := d.doing(), "reading the rules, and the schemas that the API server has for them"; got != want {
		t.Errorf("at first: want %q, got %q", want, got)
	}
	d.settling.Store(true)
	d.changed[written{}] = &difference{}
	if got, want := d.doing(), "asking the API server what would change: 1 object so far"; got != want {
		t.Errorf("then: want %q, got %q", want, got)
	}
}
