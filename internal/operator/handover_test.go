package operator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// makes is a RuleSet that makes a Pod without a name of its own for each ConfigMap.
func makes(account string) string {
	return strings.NewReplacer("ACCOUNT", account).Replace(`apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: makes, namespace: shop}
spec:
  serviceAccountName: ACCOUNT
  resources:
    configmaps: {version: v1, resource: configmaps}
    pods: {version: v1, resource: pods}
  rules:
  - name: one
    watch: configmaps
    with: {mine: {resource: pods, ownedBy: object}}
    actions:
    - when: len(mine) == 0
      create: {in: mine, manifest: {metadata: {generateName: "x-"}, spec: {containers: [{name: a, image: b}]}}}
`)
}

// readsPods is one that reads all Pods, and writes nothing.
func readsPods(name, account string) string {
	text := strings.Replace(makes(account), "name: makes", "name: "+name, 1)
	return strings.Replace(text, "len(mine) == 0", "len(mine) > 100", 1)
}

var pods = said{known: schema.NewCatalog(builtin.Source()).Growing()}

// stage is where the set makes goes from one tenant to another.
type stage struct {
	*kit
	t     *testing.T
	first source.Object // as it was stored first
	now   source.Object
}

// object stores a version of the set, and has it watched.
func (s *stage) object(text string, others ...source.Object) {
	if s.first.Name == "" {
		s.first = asObject(s.t, text)
		s.now = s.first
	} else {
		s.now = edited(s.t, s.now, text)
	}
	all := append(others, s.now)
	for _, one := range all {
		s.store(one)
	}
	s.SetObjects(s.t.Context(), all, pods)
}

// file has it in a file instead, or with an empty text in none.
func (s *stage) file(text string) {
	var files []document.File
	if text != "" {
		files = append(files, document.File{Name: "rules.yaml", Data: []byte(text)})
	}
	set, errs := rules.Load(files, rules.Options{Schemas: pods.known})
	if len(errs.Of(document.Mistake)) > 0 {
		s.t.Fatal(errs)
	}
	if err := s.SetFiles(set); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) pods() int {
	n := 0
	s.set(func(w *world) {
		for key := range w.objects {
			if strings.HasPrefix(key, "pods/") {
				n++
			}
		}
	})
	return n
}

// heldBack keeps requests or events until the returned function is called. Once forget was,
// only those are kept that were there before.
func (s *stage) heldBack(what string) (forget, release func()) {
	waits := make(chan struct{})
	s.set(func(w *world) { w.hold[what] = waits })
	forget = func() { s.set(func(w *world) { delete(w.hold, what) }) }
	return forget, func() {
		forget()
		close(waits)
	}
}

// TestHandover holds that who takes a set over does nothing that the one before has under
// way, waits no longer than for that, and keeps no other set waiting.
func TestHandover(t *testing.T) {
	tests := map[string]struct {
		reason string
		before func(*stage)
		after  func(*stage)
	}{
		"Account": {
			reason: "Another account.",
			before: func(s *stage) { s.object(makes("ann")) },
			after:  func(s *stage) { s.object(makes("bob")) },
		},
		"ThereAndBack": {
			reason: "Another account, which passes it on before it has it, to a tenant that is made anew.",
			before: func(s *stage) { s.object(makes("ann")) },
			after: func(s *stage) {
				s.object(makes("bob"))
				s.object(makes("carl"))
				s.object(makes("ann"))
			},
		},
		"DeletedAndMade": {
			reason: "The set was deleted in between.",
			before: func(s *stage) { s.object(makes("ann")) },
			after: func(s *stage) {
				s.SetObjects(s.t.Context(), nil, pods)
				s.object(makes("bob"))
			},
		},
		"FileToObject": {
			reason: "The process itself had it.",
			before: func(s *stage) { s.file(strings.Replace(makes("x"), "  serviceAccountName: x\n", "", 1)) },
			after: func(s *stage) {
				s.file("")
				s.object(makes("bob"))
			},
		},
		"ObjectToFile": {
			reason: "A file has it now.",
			before: func(s *stage) { s.object(makes("ann")) },
			after:  func(s *stage) { s.file(makes("bob")) },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{kit: newKit(t, nil), t: t}
				for _, account := range []string{"ann", "bob", "carl"} {
					s.account("shop", account)
				}
				s.configMap("shop", "a", nil)
				defer s.start()()
				s.SetObjects(t.Context(), nil, pods)
				_, release := s.heldBack("POST pods")
				tc.before(s)
				s.pass(3 * time.Second)
				tc.after(s)
				s.pass(20 * time.Second)
				posts := 0
				for _, line := range s.by("") {
					posts += strings.Count(line, "POST pods")
				}
				for _, user := range []string{"shop/ann", "shop/bob", "shop/carl"} {
					posts += strings.Count(fmt.Sprint(s.by(user)), "POST pods")
				}
				if posts != 1 {
					t.Errorf("%s %d pods are made for one object:\n%s", tc.reason, posts, s.log)
				}
				release()
				s.pass(time.Minute)
				s.configMap("shop", "b", nil)
				s.pass(time.Minute)
				if n := s.pods(); n != 2 {
					t.Errorf("%s %d pods for two objects:\n%s", tc.reason, n, s.log)
				}
			})
		})
	}
}

// TestHandoverWhileDeciding holds that what the tenant before has decided, and not sent yet, is
// never sent, and that it works for the set again when that comes back.
func TestHandoverWhileDeciding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{kit: newKit(t, nil), t: t}
		s.account("shop", "ann")
		s.account("shop", "bob")
		defer s.start()()
		others := []source.Object{asObject(t, readsPods("anns", "ann")), asObject(t, readsPods("bobs", "bob"))}
		s.object(makes("ann"), others...)
		s.pass(3 * time.Second)
		forget, release := s.heldBack("ANSWER GET pods")
		s.configMap("shop", "a", nil)
		s.pass(50 * time.Millisecond)
		forget()
		if got := fmt.Sprint(s.by("shop/ann")); s.pods() != 0 || !strings.HasSuffix(got, "GET pods/shop]") {
			t.Fatalf("%d pods, ann is not deciding: %s", s.pods(), got)
		}
		s.object(makes("bob"), others...)
		s.pass(moment)
		if n := s.pods(); n != 1 {
			t.Errorf("%d pods, the next one did nothing:\n%s", n, s.log)
		}
		release()
		s.pass(moment)
		if n := s.pods(); n != 1 {
			t.Errorf("%d pods for one object:\n%s", n, s.log)
		}
		if known := s.tenants[shop("ann")].writes.sets; len(known) != 1 {
			t.Errorf("of sets that are not its own the tenant before remembers %v", known)
		}
		s.object(makes("ann"), others...)
		s.pass(moment)
		s.configMap("shop", "b", nil)
		s.pass(moment)
		if n := s.pods(); n != 2 {
			t.Errorf("%d pods for two objects, once it is back:\n%s", n, s.log)
		}
	})
}

// TestHandoverWhileReloading holds that a tenant whose rules from before stay in effect, until
// caches are complete, writes nothing by them for a set that another one has now, and neither
// tries all the time nor takes it for a failure.
func TestHandoverWhileReloading(t *testing.T) {
	for name, already := range map[string]bool{"Already": true, "FromNowOn": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := &heard{}
				s := &stage{kit: newKit(t, func(o *Options) { o.Observers = append(o.Observers, heard) }), t: t}
				s.account("shop", "ann")
				s.account("shop", "bob")
				defer s.start()()
				anns, bobs := asObject(t, readsPods("anns", "ann")), asObject(t, readsPods("bobs", "bob"))
				s.object(paints("moves", "ann", "red"), anns, bobs)
				s.pass(3 * time.Second)
				defer s.held()()
				anns = edited(t, anns, strings.ReplaceAll(readsPods("anns", "ann"), "configmaps", "services"))
				if already {
					s.object(paints("moves", "ann", "red"), anns, bobs)
					s.pass(moment)
				}
				s.object(paints("moves", "bob", "red"), anns, bobs)
				_, release := s.heldBack("PATCH configmaps")
				s.configMap("shop", "a", nil)
				s.pass(engine.PendingLongest)
				for user, want := range map[string]int{"shop/ann": 0, "shop/bob": 1} {
					if sent := strings.Count(fmt.Sprint(s.by(user)), "PATCH configmaps"); sent != want {
						t.Errorf("%s sent %d, want %d:\n%s", user, sent, want, s.log)
					}
				}
				if n := strings.Count(fmt.Sprint(heard.what), "wrote a for a stale"); n == 0 || n > 10 {
					t.Errorf("ann was refused %d times", n)
				}
				release()
				s.pass(moment)
				if got := s.field("configmaps", "shop", "a", "data", "moves"); got != "red" || s.log.says("quarantine") {
					t.Errorf("it is %v:\n%s", got, s.log)
				}
			})
		})
	}
}

// TestHandoverOthers holds that other sets of both accounts change while one waits, whose
// status says so.
func TestHandoverOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{kit: newKit(t, nil), t: t}
		s.account("shop", "ann")
		s.account("shop", "bob")
		s.configMap("shop", "a", nil)
		defer s.start()()
		anns, bobs := asObject(t, paints("anns", "ann", "red")), asObject(t, paints("bobs", "bob", "red"))
		_, release := s.heldBack("POST pods")
		s.object(makes("ann"), anns, bobs)
		s.pass(3 * time.Second)
		anns, bobs = edited(t, anns, paints("anns", "ann", "blue")), edited(t, bobs, paints("bobs", "bob", "blue"))
		s.object(makes("bob"), anns, bobs)
		s.pass(3 * time.Second)
		for _, set := range []string{"anns", "bobs"} {
			if got := s.painted("b", set); got != "blue" {
				t.Errorf("%s waits too: it painted %v", set, got)
			}
		}
		if got := s.status(s.now); got != "Ready=False Syncing, Reconciling=True Syncing" {
			t.Errorf("the set that waits says %q", got)
		}
		release()
		s.pass(moment)
		if got := s.status(s.now); got != "Ready=True Running" {
			t.Errorf("the set says %q", got)
		}
	})
}

// TestHandoverToTrailingCaches holds that who takes a set over, with caches that it had
// before, waits until they show what was written for the set, or are filled anew.
func TestHandoverToTrailingCaches(t *testing.T) {
	for name, over := range map[string]bool{"for a while": true, "for good": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{kit: newKit(t, nil), t: t}
				s.account("shop", "ann")
				s.account("shop", "bob")
				s.configMap("shop", "a", nil)
				defer s.start()()
				others := asObject(t, readsPods("counts", "bob"))
				s.store(others)
				s.SetObjects(t.Context(), []source.Object{others}, pods)
				s.pass(3 * time.Second)
				forget, release := s.heldBack("WATCH pods shop/bob")
				s.object(makes("ann"), others)
				s.pass(3 * time.Second)
				if n := s.pods(); n != 1 {
					t.Fatalf("%d pods", n)
				}
				s.object(makes("bob"), others)
				s.pass(10 * time.Second)
				s.configMap("shop", "b", nil)
				s.pass(moment)
				if n := s.pods(); n != 1 {
					t.Errorf("%d pods, though it is not known what there was:\n%s", n, s.log)
				}
				if over {
					release()
					s.pass(moment)
				} else {
					defer release()
					forget()
					s.pass(handoverTrails)
				}
				if n := s.pods(); n != 2 {
					t.Errorf("%d pods for two objects:\n%s", n, s.log)
				}
			})
		})
	}
}
