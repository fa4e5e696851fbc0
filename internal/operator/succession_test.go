package operator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/internal/source"
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
func readsPods(account string) string {
	text := strings.Replace(makes(account), "name: makes", "name: counts", 1)
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
	s.store(s.now)
	s.SetObjects(s.t.Context(), append(others, s.now), pods)
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

// TestSuccession holds that who takes a set over does nothing that the one before has under
// way, waits no longer than for that, and keeps no other set waiting.
func TestSuccession(t *testing.T) {
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

// TestSuccessionOthers holds that other sets of both accounts change while one waits, whose
// status says so.
func TestSuccessionOthers(t *testing.T) {
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

// TestSuccessionToTrailingCaches holds that who takes a set over, with caches that it had
// before, waits until they show what was written for the set, or are filled anew.
func TestSuccessionToTrailingCaches(t *testing.T) {
	for name, over := range map[string]bool{"for a while": true, "for good": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{kit: newKit(t, nil), t: t}
				s.account("shop", "ann")
				s.account("shop", "bob")
				s.configMap("shop", "a", nil)
				defer s.start()()
				others := asObject(t, readsPods("bob"))
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
					s.pass(successionTrails)
				}
				if n := s.pods(); n != 2 {
					t.Errorf("%d pods for two objects:\n%s", n, s.log)
				}
			})
		})
	}
}
