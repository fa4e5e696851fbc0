package operator

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// lists notes that it was asked.
type lists struct {
	cleanup.Reader
	asked *bool
}

func (l lists) List(context.Context, plan.Selection, func(map[string]any) error) error {
	*l.asked = true
	return nil
}

// TestPermitted holds what is gone through to clean up.
func TestPermitted(t *testing.T) {
	cases := map[string]struct {
		reason             string
		group, ver, plural string
		namespace          string
		allowed            []string
		want               string // part of the error
		sensitive          bool
	}{
		"plain":         {reason: "Nothing is sensitive of it.", plural: "configmaps", namespace: "shop"},
		"secrets":       {reason: "They are.", plural: "secrets", want: "--allow-sensitive=secrets", sensitive: true},
		"allowed":       {reason: "They may be allowed.", plural: "secrets", allowed: []string{"rbac", "secrets"}},
		"other allowed": {reason: "Each for itself.", group: "rbac.authorization.k8s.io", plural: "roles", allowed: []string{"secrets"}, want: "--allow-sensitive=rbac", sensitive: true},
		"any version":   {reason: "In whatever version.", group: "rbac.authorization.k8s.io", ver: "v9", plural: "rolebindings", want: "--allow-sensitive=rbac", sensitive: true},
		"path":          {reason: "A name is no path to another resource.", plural: "x/../secrets", want: "no resource"},
		"dots":          {reason: "Nor is it dots,", plural: "..", want: "no resource"},
		"group":         {reason: "nor is a group", group: "../api", plural: "secrets", want: "no resource"},
		"version":       {reason: "or a version", ver: "v1/secrets", plural: "..", want: "no resource"},
		"namespace":     {reason: "or a namespace.", plural: "configmaps", namespace: "../x", want: "no resource"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := false
			p := permitted{lists{asked: &asked}, tc.allowed}
			version := tc.ver
			if version == "" {
				version = "v1"
			}
			from := plan.Selection{GVR: apischema.GroupVersionResource{Group: tc.group, Version: version, Resource: tc.plural}, Namespace: tc.namespace}
			err := p.List(t.Context(), from, nil)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nerror: %v", tc.reason, err)
			}
			if asked != (tc.want == "") || errors.Is(err, errSensitive) != tc.sensitive {
				t.Errorf("%s\nasked %v, error %v", tc.reason, asked, err)
			}
		})
	}
}

// TestForgedSecrets holds that a status cannot have us write what no flag allows, and that
// it is told: neither what the account cleans up nor the finalizers that we take off.
func TestForgedSecrets(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		allowed []string
		kind    string
		gone    bool // the ServiceAccount and the namespace
		left    bool // the set stays
	}{
		"refused":            {reason: "No flag allows it.", kind: "children", left: true},
		"allowed":            {reason: "The flag does.", kind: "children", allowed: []string{"secrets"}},
		"created":            {reason: "Nothing is written of that.", kind: "created"},
		"finalizer":          {reason: "We ourselves write it no more than others.", kind: "finalizer", gone: true, left: true},
		"finalizer, allowed": {reason: "The flag allows it.", kind: "finalizer", gone: true, allowed: []string{"secrets"}},
		"given up":           {reason: "Nothing but finalizers is taken off.", kind: "children", gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, func(o *Options) { o.Settings.Sensitive = tc.allowed })
				if tc.gone {
					k.put("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop", "deletionTimestamp": "2000-01-01T00:00:00Z"}})
				} else {
					k.account("shop", "ann")
				}
				set := leaving(asObject(t, paints("old", "carl", "x")), "ann")
				left := &set.Status.Inventory[0]
				left.Kind, left.Resource, left.Release = tc.kind, "secrets", ""
				k.store(set, hold)
				defer k.start()()
				k.setObjects(set)
				k.pass(20 * time.Second)
				if stays := k.field("rulesets", "shop", "old") != nil; stays != tc.left {
					t.Errorf("%s\nit stays: %v\n%s", tc.reason, stays, k.log)
				}
				asked := k.asked("GET secrets") + k.asked("shop/ann GET secrets")
				if want := len(tc.allowed) > 0; (asked > 0) != want {
					t.Errorf("%s\nSecrets were read %d times", tc.reason, asked)
				}
				touched := func(line string) bool { return strings.Contains(line, "secrets") }
				if sent := k.sent(); slices.ContainsFunc(sent, touched) {
					t.Errorf("%s\nsent %q", tc.reason, sent)
				}
				if tc.left && !k.log.says("--allow-sensitive=secrets") {
					t.Errorf("%s\n%s", tc.reason, k.log)
				}
			})
		})
	}
}

// TestSensitiveStays holds that a set is not given up for a part that is refused to us,
// where another part only lacks a flag: the flag can be set.
func TestSensitiveStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.put("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop", "deletionTimestamp": "2000-01-01T00:00:00Z"}})
		set := leaving(asObject(t, paints("old", "carl", "x")), "ann", "ann")
		for i, resource := range []string{"configmaps", "secrets"} {
			left := &set.Status.Inventory[i]
			left.Kind, left.Resource, left.Release = "finalizer", resource, ""
		}
		k.store(set, hold)
		k.set(func(w *world) { w.fails["GET configmaps"] = http.StatusForbidden })
		defer k.start()()
		k.setObjects(set)
		k.pass(20 * time.Second)
		if k.field("rulesets", "shop", "old") == nil {
			t.Errorf("it is given up:\n%s", k.log)
		}
	})
}
