package operator

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// follows has ConfigMaps of the namespace shop say what another rule has them say.
const follows = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: follows, namespace: shop}
spec:
  serviceAccountName: ann
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - name: follow
    watch: configmaps
    when: object.data?.color != nil && object.data?.follows != object.data?.color
    actions: [{patch: {merge: {data: {follows: "${object.data?.color}"}}}}]
`

// sums are what settling came to, by the account.
func sums(all []Settlement) map[string]int {
	out := map[string]int{}
	for _, one := range all {
		out[one.Account.Name] = one.Written
	}
	return out
}

// TestSettle holds that all identities settle, each again for what another has written.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // Which fails for goroutines that are left.
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.account("shop", "bob")
		k.configMap("shop", "a", nil)
		refused := k.Take(t.Context(), load(t, paints("own", "", "red")), []source.Object{
			asObject(t, follows), asObject(t, paints("color", "bob", "blue")),
		}, said{})
		if len(refused) > 0 {
			t.Fatal(refused)
		}
		settled, err := k.Settle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int{"": 1, "ann": 1, "bob": 1}, sums(settled)); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
		data, _ := k.field("configmaps", "shop", "a", "data").(map[string]any)
		if diff := cmp.Diff(map[string]any{"own": "red", "color": "blue", "follows": "blue"}, data); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		k.pass(moment)
		if got := k.watching(); got != "[]" {
			t.Errorf("it watches %s", got)
		}
	})
}

// TestSettleTroubles holds what is told of an identity that cannot act.
func TestSettleTroubles(t *testing.T) {
	cases := map[string]struct {
		reason  string
		arrange func(*kit)
		own     bool
		refused string // of ann
		unheard int    // caches
		writes  int
	}{
		"well":       {reason: "It acts.", arrange: func(k *kit) { k.account("shop", "ann") }, writes: 1},
		"no account": {reason: "Nothing is sent.", arrange: func(*kit) {}, refused: "acting as ServiceAccount shop/ann: there is no such ServiceAccount: shop/ann"},
		"may not list": {
			reason: "It is told, and not waited for.", unheard: 1,
			arrange: func(k *kit) {
				k.account("shop", "ann")
				k.deny("list configmaps")
			},
		},
		"cannot be asked": {
			reason: "It may not be there.", refused: "acting as ServiceAccount shop/ann: asking whether there is ServiceAccount shop/ann: refused",
			arrange: func(k *kit) { k.set(func(w *world) { w.fails["GET serviceaccounts"] = http.StatusForbidden }) },
		},
		"the process cannot be asked": {
			reason: "It tries.", own: true, writes: 1,
			arrange: func(k *kit) {
				k.set(func(w *world) { w.fails["POST selfsubjectaccessreviews"] = http.StatusForbidden })
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				k.configMap("shop", "a", nil)
				tc.arrange(k)
				files, at := paints("color", "ann", "red"), 1
				if tc.own {
					files, at = paints("color", "", "red"), 0
				}
				k.Take(t.Context(), load(t, files), nil, said{})
				settled, err := k.Settle(t.Context())
				if err != nil || len(settled) <= at {
					t.Fatalf("%v, %v", settled, err)
				}
				got := settled[at]
				if text(got.Refused) != tc.refused || got.Written != tc.writes || len(got.Unlisted) != tc.unheard {
					t.Errorf("%s\ngot %+v", tc.reason, got)
				}
				if got := k.by("shop/ann"); tc.refused != "" && len(got) > 0 {
					t.Errorf("%s\nsent %q", tc.reason, got)
				}
				k.pass(moment)
			})
		})
	}
}

// TestSettleCleansUp holds that what is gone is cleaned up as who left it, also where no
// set names the account any more.
func TestSettleCleansUp(t *testing.T) {
	for name, prune := range map[string]bool{"with --prune": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, func(o *Options) { o.Settings.Prune = prune })
				k.account("shop", "ann")
				k.leave(left("gone", "a", "ann"))
				k.Take(t.Context(), load(t, paints("own", "", "red")), nil, said{})
				settled, err := k.Settle(t.Context())
				if err != nil || len(settled) != 2 {
					t.Fatalf("%v, %v", settled, err)
				}
				want := []string{"gone.a ann"}
				if prune {
					want = []string{}
				}
				if diff := cmp.Diff(want, k.leavings()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// TestSettleCleansUpObjects holds the same of a rule that is gone from a set object.
func TestSettleCleansUpObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		set := asObject(t, keeps("s", "ann", "one"))
		k.stored(string(set.UID), 1, false)
		k.childOfTwo()
		k.Take(t.Context(), load(t), []source.Object{set}, said{})
		if _, err := k.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if k.field("configmaps", "shop", "child", "data") != nil {
			t.Errorf("the child is there still:\n%s", k.log)
		}
	})
}

// TestSettleDryRun holds that one round is enough where nothing is stored.
func TestSettleDryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := &heard{}
		k := newKit(t, func(o *Options) {
			o.Settings.DryRun, o.Observers = config.DryRunClient, append(o.Observers, heard)
		})
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		k.Take(t.Context(), load(t, paints("own", "", "red"), paints("anns", "ann", "red")), nil, said{})
		settled, err := k.Settle(t.Context())
		if err != nil || len(settled) != 2 || settled[0].Simulated != 1 || settled[1].Simulated != 1 {
			t.Errorf("%+v, %v", settled, err)
		}
		if sent := k.sent(); len(sent) > 0 {
			t.Errorf("sent %q", sent)
		}
		if n := count(heard.what, "wrote a"); n != 2 {
			t.Errorf("%d writes are shown", n)
		}
	})
}

// TestDryRunCleansUp holds that a dry run tells what would be cleaned up after a set object
// that is being deleted, once, with or without an end, and stores nothing.
func TestDryRunCleansUp(t *testing.T) {
	for _, once := range []bool{true, false} {
		t.Run(fmt.Sprint("once ", once), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cleaned []string
				k := newKit(t, func(o *Options) {
					o.Settings.DryRun = config.DryRunClient
					o.Cleaned = func(r cleanup.Report) {
						cleaned = append(cleaned, fmt.Sprint(r.Result.Class, " ", r.Operation.Target.Name, " ", r.Leftover.Kind))
					}
				})
				k.account("shop", "ann")
				set := leaving(asObject(t, paints("gone", "ann", "red")), "ann")
				set.Status.Inventory[0].Kind, set.Status.Inventory[0].Release = string(plan.LeftFinalizer), ""
				rule := plan.Rule{Kind: set.Kind, Namespace: set.Namespace, Set: set.Name, Name: set.Status.Inventory[0].Rule}
				k.store(set, v1alpha1.Finalizer)
				k.put("configmaps", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
					"namespace": "shop", "name": "a", "uid": "uid-a", "finalizers": []any{rule.Finalizer()},
				}})
				if once {
					k.Take(t.Context(), &rules.Set{}, []source.Object{set}, said{})
					if _, err := k.Settle(t.Context()); err != nil {
						t.Fatal(err)
					}
				} else {
					stop := k.start()
					k.setObjects(set)
					k.pass(time.Hour)
					stop()
				}
				if diff := cmp.Diff([]string{"simulated a finalizer"}, cleaned); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if sent := k.sent(); len(sent) > 0 {
					t.Errorf("sent %q", sent)
				}
			})
		})
	}
}

// TestTake holds what is told of set objects that are refused.
func TestTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		lost := asObject(t, paints("lost", "ann", "x"))
		lost.LostNull = "spec.rules[0].when"
		refused := k.Take(t.Context(), load(t, paints("file", "", "x")), []source.Object{
			asObject(t, paints("file", "ann", "x")), asObject(t, paints("good", "ann", "x")), lost,
		}, said{})
		var got []string
		for _, err := range refused {
			got = append(got, err.Error())
		}
		want := []string{
			"RuleSet shop/file: it is refused\n  a file that dyncontroller runs has the same RuleSet; rename one of them, or take away the file",
			"RuleSet shop/lost: it is refused\n  spec.rules[0].when: a null was lost on its way into the cluster; apply with --server-side, or write ${nil} in a body",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestRefusedError(t *testing.T) {
	err := &RefusedError{
		Set:      source.Key{Kind: spec.KindClusterRuleSet, Name: "guard"},
		Mistakes: document.Errors{{Path: "spec", Message: "one"}, {Message: "two", Hint: "do"}},
	}
	const want = "ClusterRuleSet guard: it is refused\n  spec: one\n  two; do"
	if got := err.Error(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
