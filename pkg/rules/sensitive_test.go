package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// sensitiveWorld declares one resource of each sensitive kind, and some that are not.
const sensitiveWorld = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    pods: {version: v1, resource: pods}
    secrets: {version: v1, resource: secrets}
    accounts: {version: v1, resource: serviceaccounts}
    roles: {group: rbac.authorization.k8s.io, version: v1, resource: roles}
    rolebindings: {group: rbac.authorization.k8s.io, version: v1alpha1, resource: rolebindings}
    webhooks: {group: admissionregistration.k8s.io, version: v1, resource: mutatingwebhookconfigurations}
    policies: {group: admissionregistration.k8s.io, version: v1beta1, resource: validatingadmissionpolicies}
    crds: {group: apiextensions.k8s.io, version: v1, resource: customresourcedefinitions}
    apiservices: {group: apiregistration.k8s.io, version: v1, resource: apiservices}
    requests: {group: certificates.k8s.io, version: v1, resource: certificatesigningrequests}
    sets: {group: dyncontroller.dev, version: v1alpha1, resource: rulesets}
    leases: {group: coordination.k8s.io, version: v2, resource: leases}
    others: {group: example.com, version: v1, resource: secrets}
  rules:
`

// TestSensitive holds which writes must be allowed: each kind of action, of each kind of
// object.
func TestSensitive(t *testing.T) {
	const merge = "{patch: {merge: {metadata: {labels: {a: b}}}}}"
	watching := func(resource string) string { return "watch: " + resource + ", actions: [" + merge + "]" }
	tests := map[string]struct {
		reason string
		rule   string
		want   string // kind and path of each finding
	}{
		"reads":           {"Who only reads may read what the API server lets it.", `watch: secrets, with: {more: {resource: roles, all: true}}, when: len(more) > 0, actions: [{event: {reason: A, message: b}}]`, ""},
		"other group":     {"What only has the name is not meant.", watching("others"), ""},
		"plain":           {"Nor is a Pod.", watching("pods"), ""},
		"patch":           {"A patch.", watching("secrets"), "secrets actions[0].patch"},
		"json":            {"In any form.", `watch: secrets, actions: [{patch: {json: [{op: remove, path: /data}]}}]`, "secrets actions[0].patch"},
		"applied":         {"In any form.", `watch: secrets, actions: [{patch: {apply: {metadata: {labels: {a: b}}}}}]`, "secrets actions[0].patch"},
		"subresource":     {"Of a subresource too: approving a request is one.", `watch: requests, actions: [{patch: {merge: {status: {}}, subresource: approval}}]`, "certificates actions[0].patch"},
		"account":         {"A ServiceAccount is no token,", watching("accounts"), ""},
		"account status":  {"nor is another subresource of it,", `watch: accounts, actions: [{patch: {merge: {a: b}, subresource: status}}]`, ""},
		"delete":          {"What is deleted.", `watch: leases, actions: [{delete: {}}]`, "leases actions[0].delete"},
		"target":          {"A target.", `watch: pods, with: {more: {resource: secrets, all: true}}, actions: [{delete: {target: more}}]`, "secrets actions[0].delete"},
		"through let":     {"However it is called.", `watch: pods, with: {more: {resource: secrets, all: true}}, let: {chosen: first(more)}, actions: [{patch: {target: chosen, merge: {data: {a: b}}}}]`, "secrets actions[0].patch"},
		"through forEach": {"However it is called.", `watch: pods, with: {more: {resource: secrets, all: true}}, actions: [{forEach: {each: "${more}"}, delete: {target: each}}]`, "secrets actions[0].delete"},
		"apply":           {"What is made.", `watch: pods, actions: [{apply: {resource: roles, manifest: {metadata: {name: a}}}}]`, "rbac actions[0].apply"},
		"create":          {"What is created.", `watch: pods, with: {found: {resource: rolebindings, all: true}}, actions: [{create: {in: found, manifest: {metadata: {generateName: a-}}}}]`, "rbac actions[0].create"},
		"owner":           {"Who owns what is made is not written.", `watch: secrets, actions: [{apply: {resource: pods, manifest: {metadata: {name: a}}}}]`, ""},
		"event":           {"Nor is what an Event is about.", `watch: secrets, actions: [{event: {reason: A, message: b}}]`, ""},
		"hold":            {"A finalizer is written.", `watch: secrets, onDelete: {actions: [{event: {reason: A, message: b}}]}`, "secrets onDelete"},
		"no hold":         {"Where there is one.", `watch: secrets, onDelete: {hold: false, actions: [{event: {reason: A, message: b}}]}`, ""},
		"on delete":       {"What is done while it goes.", `watch: pods, with: {more: {resource: secrets, all: true}}, onDelete: {hold: false, actions: [{event: {reason: A, message: b}}, {delete: {target: more}}]}`, "secrets onDelete.actions[1].delete"},
		"several": {
			"Each action is told of.",
			`watch: "secrets,roles,pods", actions: [` + merge + `, {event: {reason: A, message: b}}, {delete: {}}]`,
			"rbac actions[0].patch\nsecrets actions[0].patch\nrbac actions[2].delete\nsecrets actions[2].delete",
		},
		"audited":     {"What is only audited would write once somebody changes a word.", `mode: Audit, ` + watching("secrets"), "secrets actions[0].patch"},
		"webhooks":    {"Webhooks.", watching("webhooks"), "webhooks actions[0].patch"},
		"policies":    {"Policies do what webhooks do, in whatever version.", watching("policies"), "webhooks actions[0].patch"},
		"crds":        {"Definitions.", watching("crds"), "crds actions[0].patch"},
		"apiservices": {"Who answers for a group.", watching("apiservices"), "apiservices actions[0].patch"},
		"rules":       {"Rules that make rules have all rights that any rule has.", watching("sets"), "rules actions[0].patch"},
		"leases":      {"Whoever has the lease leads, in whatever version.", watching("leases"), "leases actions[0].patch"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := []document.File{{Name: "rules.yaml", Data: []byte(sensitiveWorld + "  - {name: r, " + tc.rule + "}\n")}}
			var asked []string
			_, errs := rules.Load(files, rules.Options{Sensitive: func(kind string) bool {
				asked = append(asked, kind)
				return false
			}})
			if diff := cmp.Diff(tc.want, sensitiveFindings(t, errs, document.Mistake)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			set, errs := rules.Load(files, rules.Options{Sensitive: func(kind string) bool { return slices.Contains(asked, kind) }})
			if set == nil || len(sensitiveFindings(t, set.Warnings(), document.Note)) > 0 {
				t.Errorf("%s it is allowed, and yet: %v", tc.reason, errs)
			}
			if set, errs = rules.Load(files, rules.Options{}); set == nil {
				t.Fatalf("where nobody says what is allowed, nothing is refused: %v", errs)
			}
			notes := sensitiveFindings(t, set.Warnings(), document.Note)
			for line := range strings.Lines(tc.want) {
				kind, _, _ := strings.Cut(line, " ")
				if strings.Count(notes, kind+" ") != 1 {
					t.Errorf("%s there must be one note of %s, have\n%s", tc.reason, kind, notes)
				}
			}
			if tc.want == "" && notes != "" {
				t.Errorf("%s there is a note:\n%s", tc.reason, notes)
			}
		})
	}
}

// sensitiveFindings are the kinds and places of what is said about them.
func sensitiveFindings(t *testing.T, errs document.Errors, severity document.Severity) string {
	t.Helper()
	var lines []string
	for _, err := range errs {
		if err.Code != document.CodeSensitive {
			continue
		}
		kind, is := strings.CutPrefix(err.Hint, "run with --allow-sensitive=")
		if !is || !slices.Contains(rules.SensitiveKinds(), kind) || err.Severity != severity || err.Line == 0 {
			t.Errorf("what is said is %v, of severity %v", err, err.Severity)
		}
		lines = append(lines, kind+" "+strings.TrimPrefix(err.Path, "spec.rules[0]."))
	}
	return strings.Join(lines, "\n")
}

// TestSensitiveKinds holds the names that users write, which are kept.
func TestSensitiveKinds(t *testing.T) {
	want := []string{"apiservices", "certificates", "crds", "leases", "rbac", "rules", "secrets", "webhooks"}
	if diff := cmp.Diff(want, rules.SensitiveKinds()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
