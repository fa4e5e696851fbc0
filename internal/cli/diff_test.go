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
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

// painted is what a rule that wants blue makes of a red ConfigMap.
const painted = `--- configmaps default/a	live
+++ configmaps default/a	shop/color
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  color: red
+  color: blue
 kind: ConfigMap
 metadata:
   name: a
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
				"@@ -1,6 +1,6 @@\n", "\x1b[36m@@ -1,6 +1,6 @@\x1b[0m\n",
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
			stderr: "1 object looked at: nothing would change\n" +
				"1 object not waited for: a rule with \"for\" acts only once its condition has held for so long\n",
		},
		"Refused": {
			reason: "What the API server refuses is trouble, not a difference.", rules: colors("blue"), refuse: "not on a friday", code: exitUsage,
			stderr: "1 object looked at: nothing would change\n" +
				"dyncontroller: failed configmaps default/a: shop/color: writing configmaps default/a: not on a friday\n",
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
			if !one.prepare() {
				t.Fatalf("%s: there is nothing to show", tc.reason)
			}
			if diff := cmp.Diff([]fields{tc.wantBefore, tc.wantAfter}, []fields{one.before, one.after}); diff != "" {
				t.Errorf("%s -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if same := (&difference{before: config(nil), after: config(nil, "managedFields", []any{fields{"manager": "x"}}), hidden: []*redact.Values{{}}}); same.prepare() {
		t.Errorf("an object of which just the owners change is shown: %v", same)
	}
}
