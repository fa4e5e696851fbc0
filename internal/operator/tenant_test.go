package operator

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestTenants holds that each set acts as its own account, and nobody as one that is
// not there.
func TestTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		k.files(paints("own", "", "red"))
		stop := k.start()
		defer stop()
		k.setObjects(asObject(t, paints("anns", "ann", "red")), asObject(t, paints("bobs", "bob", "red")))
		k.pass(20 * time.Second)
		data, _ := k.field("configmaps", "shop", "a", "data").(map[string]any)
		if diff := cmp.Diff(map[string]any{"own": "red", "anns": "red"}, data); diff != "" {
			t.Errorf("what is there is painted (-want +got):\n%s", diff)
		}
		if got := k.by("shop/bob"); len(got) > 0 {
			t.Errorf("requests as an account that is not there: %q", got)
		}
		if !k.log.says("rules rest: they cannot act as their ServiceAccount") {
			t.Errorf("it is not told:\n%s", k.log)
		}

		k.account("shop", "bob")
		k.pass(20 * time.Second)
		if got := k.field("configmaps", "shop", "a", "data", "bobs"); got != "red" {
			t.Errorf("the account is there, and the rule rests: %v", got)
		}

		k.remove("serviceaccounts", "shop", "bob")
		k.pass(70 * time.Second)
		sent := len(k.by("shop/bob"))
		k.configMap("shop", "b", nil)
		k.pass(time.Minute)
		if got := k.by("shop/bob"); len(got) != sent {
			t.Errorf("requests as an account that is gone: %q", got[sent:])
		}
		if got := k.field("configmaps", "shop", "b", "data", "anns"); got != "red" {
			t.Errorf("others do not go on: %v", got)
		}
		if diff := cmp.Diff([]string{"/", "shop/ann", "shop/bob"}, k.names()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestRights holds that what an account may not read is dropped, and read again when it
// may, without anybody's help and without disturbing others.
func TestRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		defer k.start()()
		k.setObjects(asObject(t, paints("anns", "ann", "red")))
		k.pass(moment)
		if got := k.watching(); got != "[configmaps/shop]" {
			t.Errorf("it watches %s", got)
		}
		k.deny("list configmaps")
		k.pass(70 * time.Second)
		if got := k.watching(); got != "[]" {
			t.Errorf("it watches %s although it may not", got)
		}
		caches := k.Caches()
		if len(caches) != 1 || caches[0].Account != shop("ann") || caches[0].Err == nil ||
			caches[0].Err.Error() != "ServiceAccount shop/ann may not list configmaps in namespace shop" {
			t.Errorf("the cache is %+v", caches)
		}
		k.configMap("shop", "b", nil)
		k.deny()
		k.pass(20 * time.Second)
		if got := k.field("configmaps", "shop", "b", "data", "anns"); got != "red" || k.watching() != "[configmaps/shop]" {
			t.Errorf("it may again, and painted %v and watches %s", got, k.watching())
		}
		if !k.log.says("permissions are missing") || !k.log.says("no permission is missing any more") {
			t.Errorf("it is not told:\n%s", k.log)
		}
	})
}

// TestRecreated holds that nothing is used that was read as another account of the name.
func TestRecreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		defer k.start()()
		k.setObjects(asObject(t, paints("anns", "ann", "red")))
		k.pass(moment)
		lists := func() int { return count(k.by("shop/ann"), "GET configmaps/shop") }
		before := lists()
		k.remove("serviceaccounts", "shop", "ann")
		k.account("shop", "ann")
		k.pass(70 * time.Second)
		if lists() == before {
			t.Error("the cache is not read anew")
		}
		k.configMap("shop", "a", nil)
		k.pass(moment)
		if got := k.field("configmaps", "shop", "a", "data", "anns"); got != "red" {
			t.Errorf("the rule does not go on: %v", got)
		}
	})
}

func count(lines []string, part string) int {
	n := 0
	for _, line := range lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// TestForbidden holds that a refused request is a reason to look what has changed.
func TestForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		defer k.start()()
		k.setObjects(asObject(t, paints("anns", "ann", "red")))
		k.pass(20 * time.Second) // Far from the next look.
		k.deny("patch configmaps")
		k.set(func(w *world) { w.fails["PATCH configmaps"] = http.StatusForbidden })
		k.configMap("shop", "a", nil)
		k.pass(6 * time.Second)
		if got := k.tenant(shop("ann")).known().Missing; len(got) != 1 || got[0].Verb != "patch" {
			t.Errorf("missing: %v", got)
		}
	})
}

// TestTenantGoes holds that nothing is left of an account that nobody needs, and that it
// can come again.
func TestTenantGoes(t *testing.T) {
	for name, leads := range map[string]bool{"leading": true, "waiting": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // Which fails for goroutines that are left.
				k := newKit(t, nil)
				k.account("shop", "ann")
				k.configMap("shop", "a", nil)
				stop := k.start
				if !leads {
					stop = k.stand
				}
				end := stop()
				set := asObject(t, paints("anns", "ann", "red"))
				for range 3 {
					k.setObjects(set)
					first := k.tenant(shop("ann"))
					k.setObjects() // So soon that nobody has seen it.
					k.setObjects(set)
					if k.tenant(shop("ann")) == first {
						t.Error("it is the same")
					}
					k.pass(moment)
					if got := k.watching(); got != "[configmaps/shop]" {
						t.Errorf("it watches %s", got)
					}
					k.setObjects()
					k.pass(moment)
					if got := k.watching(); got != "[]" {
						t.Errorf("it is gone, and watches %s", got)
					}
				}
				if diff := cmp.Diff([]string{"/"}, k.names()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if got := k.field("configmaps", "shop", "a", "data", "anns"); (got == "red") != leads {
					t.Errorf("painted %v", got)
				}
				if got := k.Measure().Queued; got != 0 {
					t.Errorf("%d objects wait for workers", got)
				}
				end()
			})
		})
	}
}

// TestJudgeAfterTheEnd holds that a verdict which comes late starts nothing again.
func TestJudgeAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		stop := k.start()
		k.setObjects(asObject(t, paints("anns", "ann", "red")))
		k.pass(moment)
		late := k.tenant(shop("ann"))
		stop()
		list := plan.Permission{Verb: "list", Resource: apischema.GroupResource{Resource: "configmaps"}, Namespace: "shop"}
		late.judge(access.Verdict{Known: true, Finding: access.Finding{UID: "u", Missing: []plan.Permission{list}}})
		late.judge(access.Verdict{Known: true, Finding: access.Finding{UID: "u"}})
		late.judge(access.Verdict{Known: true, Recreated: true, Finding: access.Finding{UID: "v"}})
		late.setRules(load(t, paints("anns", "ann", "blue")))
		k.pass(moment)
		if got := k.watching(); got != "[]" || len(late.informers.Status()) > 0 {
			t.Errorf("it watches %s, caches %v", got, late.informers.Status())
		}
	})
}

// TestUndisturbed holds that who changes nothing is not looked at again because others
// do.
func TestUndisturbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.account("shop", "bob")
		k.configMap("shop", "a", nil)
		defer k.start()()
		ann, bob := asObject(t, paints("anns", "ann", "red")), asObject(t, paints("bobs", "bob", "red"))
		k.setObjects(ann, bob)
		k.pass(moment)
		before := k.tenant(shop("ann")).given
		k.setObjects(ann, edited(t, bob, paints("bobs", "bob", "blue")))
		k.pass(moment)
		if k.tenant(shop("ann")).given != before {
			t.Error("a tenant is given its rules again because another one changes his")
		}
		if got := k.field("configmaps", "shop", "a", "data", "bobs"); got != "blue" {
			t.Errorf("the other one's do not change: %v", got)
		}
		k.setObjects(leaving(ann, "ann"), bob)
		if k.tenant(shop("ann")).given == before {
			t.Error("a tenant does not hear that its set is being deleted")
		}
	})
}

// TestMoves holds that a set is run by whom it names now, and nobody else.
func TestMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.account("shop", "bob")
		defer k.start()()
		set := asObject(t, paints("color", "ann", "red"))
		k.setObjects(set)
		k.pass(moment)
		k.setObjects(edited(t, set, paints("color", "bob", "blue")))
		k.pass(moment)
		sent := len(k.by("shop/ann"))
		k.configMap("shop", "a", nil)
		k.pass(moment)
		if got := k.field("configmaps", "shop", "a", "data", "color"); got != "blue" {
			t.Errorf("the rule does not go on: %v", got)
		}
		if got := k.by("shop/ann"); len(got) != sent {
			t.Errorf("as who it was before: %q", got[sent:])
		}
	})
}

func TestShutBy(t *testing.T) {
	gone := errors.New("gone")
	cases := map[string]struct {
		verdict access.Verdict
		want    error
	}{
		"nothing known": {access.Verdict{}, ErrUnreviewed},
		"there":         {access.Verdict{Known: true}, nil},
		"gone":          {access.Verdict{Known: true, Finding: access.Finding{Account: gone}}, gone},
		"unknown since": {access.Verdict{Known: true, Unknown: gone}, nil},
		"replaced":      {access.Verdict{Unknown: gone, Recreated: true}, ErrUnreviewed},
	}
	for name, tc := range cases {
		if got := shutBy(tc.verdict); !errors.Is(got, tc.want) {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

// TestDryRun holds that one writes nothing, not even what it would clean up.
func TestDryRun(t *testing.T) {
	for _, mode := range []config.DryRun{config.DryRunClient, config.DryRunServer} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, func(o *Options) { o.Settings.DryRun = mode })
				k.account("shop", "ann")
				k.configMap("shop", "a", nil)
				stop := k.start()
				k.setObjects(asObject(t, paints("anns", "ann", "red")), leaving(asObject(t, paints("old", "ann", "x"))))
				k.pass(20 * time.Second)
				stop()
				sent := k.sent()
				if mode == config.DryRunServer {
					sent = slices.DeleteFunc(sent, func(line string) bool { return line == "shop/ann PATCH configmaps/shop/a" })
				}
				if len(sent) > 0 {
					t.Errorf("sent %q", sent)
				}
			})
		})
	}
}

func TestAccountName(t *testing.T) {
	for account, want := range map[types.NamespacedName]string{{}: "dyncontroller itself", shop("ann"): "ServiceAccount shop/ann"} {
		if got := accountName(account); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
