package operator

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// TestStatus holds what the statuses of set objects say.
func TestStatus(t *testing.T) {
	good := paints("color", "ann", "red")
	bad := strings.Replace(good, "watch: configmaps", "watch: maps", 1)
	same := func(_ *testing.T, set source.Object) source.Object { return set }
	cases := map[string]struct {
		reason  string
		arrange func(*kit)
		set     func(*testing.T, source.Object) source.Object
		first   bool // nothing came before
		want    string
	}{
		"running": {reason: "All is well.", set: same, want: "Ready=True Running"},
		"refused": {
			reason: "What it said before is in effect.", want: "Ready=False Refused, Stalled=True Refused",
			set: func(t *testing.T, set source.Object) source.Object { return edited(t, set, bad) },
		},
		"never good": {
			reason: "There is nobody to run it.", first: true, want: "Ready=False Refused, Stalled=True Refused",
			set: func(t *testing.T, _ source.Object) source.Object { return asObject(t, bad) },
		},
		"sensitive": {
			reason: "An administrator may allow it.", first: true, want: "Ready=False NotAllowed, Stalled=True NotAllowed",
			set: func(t *testing.T, _ source.Object) source.Object {
				return asObject(t, strings.NewReplacer("configmaps", "secrets", "metadata: {name: color", "metadata: {name: color").Replace(good))
			},
		},
		"a file has it": {
			reason: "It is not in effect.", arrange: func(k *kit) { k.files(good) }, set: same, want: "Ready=False Refused, Stalled=True Refused",
		},
		"no account": {
			reason: "Nobody can act as it.", set: same, want: "Ready=False NoServiceAccount, Stalled=True NoServiceAccount",
			arrange: func(k *kit) { k.remove("serviceaccounts", "shop", "ann") },
		},
		"may not read": {
			reason: "The permission is told, and not its consequences.", set: same, want: "Ready=False Degraded, Stalled=True Degraded",
			arrange: func(k *kit) { k.deny("list configmaps") },
		},
		"may not write": {
			reason: "It is told before it is tried.", set: same, want: "Ready=False Degraded, Stalled=True Degraded",
			arrange: func(k *kit) { k.deny("patch configmaps") },
		},
		"cannot be asked": {
			reason: "Nothing is known of the account.", first: true, set: same, want: "Ready=False Syncing, Reconciling=True Syncing",
			arrange: func(k *kit) {
				k.set(func(w *world) { w.fails["POST selfsubjectaccessreviews"] = http.StatusInternalServerError })
			},
		},
		"not there": {
			reason: "There is no such resource.", first: true, set: same, want: "Ready=False Unreachable, Stalled=True Unreachable",
			arrange: func(k *kit) { k.set(func(w *world) { w.fails["GET configmaps"] = http.StatusNotFound }) },
		},
		"not recorded": {
			reason: "Its rules wait.", first: true, want: "Ready=False NotRecorded, Reconciling=True NotRecorded",
			set: func(t *testing.T, _ source.Object) source.Object { return asObject(t, keeps("color", "ann", "a")) },
			arrange: func(k *kit) {
				k.store(asObject(k.t, keeps("color", "ann", "a")))
				k.set(func(w *world) { w.fails["PATCH rulesets"] = http.StatusForbidden })
			},
		},
		"deleted": {
			reason: "It is being cleaned up.", want: "Ready=False CleaningUp, Reconciling=True CleaningUp",
			set: func(_ *testing.T, set source.Object) source.Object { return leaving(set) },
		},
		"deleted without an account": {
			reason: "Nobody can clean up.", want: "Ready=False CleaningUp, Stalled=True CleaningUp",
			set: func(_ *testing.T, set source.Object) source.Object { return leaving(set, "ann", "zoe") },
		},
		"gone": {
			reason: "It has no status any more.",
			set: func(_ *testing.T, set source.Object) source.Object {
				set.Deleting = true
				return set
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				k.account("shop", "ann")
				set := asObject(t, good)
				defer k.start()()
				if !tc.first {
					k.setObjects(set)
					k.pass(moment)
				}
				if tc.arrange != nil {
					tc.arrange(k)
				}
				next := tc.set(t, set)
				k.setObjects(next)
				k.pass(70 * time.Second)
				if got := k.status(next); got != tc.want {
					t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.want)
				}
			})
		})
	}
}

// TestNotReadyTooEarly holds that a set is not ready before it is known whether its
// account has the rights that are new.
func TestNotReadyTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		defer k.start()()
		first := asObject(t, paints("first", "ann", "red"))
		k.setObjects(first)
		k.pass(20 * time.Second)
		answer := make(chan struct{})
		k.set(func(w *world) { w.hold["POST selfsubjectaccessreviews"] = answer })
		second := asObject(t, strings.Replace(paints("second", "ann", "x"), "[{patch: {merge: {data: {second: x}}}}]", "[{delete: {}}]", 1))
		k.setObjects(first, second)
		k.pass(5 * time.Second)
		if got := k.status(second); got != "Ready=False Syncing, Reconciling=True Syncing" {
			t.Errorf("the new one is %s", got)
		}
		if got := k.status(first); got != "Ready=True Running" {
			t.Errorf("the other one is %s", got)
		}
		close(answer)
		k.pass(moment)
		if got := k.status(second); got != "Ready=True Running" {
			t.Errorf("then it is %s", got)
		}
	})
}

// TestSeveralTroubles holds that of several who clean up, none hides what keeps another.
func TestSeveralTroubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.stand()()
		set := leaving(asObject(t, paints("old", "carl", "x")), "ann", "bob")
		k.setObjects(set)
		for _, account := range []string{"ann", "bob"} {
			k.tenant(shop(account)).judge(access.Verdict{Known: true, Finding: access.Finding{UID: "u"}})
		}
		ann := k.tenant(shop("ann")).book
		ann.note(ann.unswept, set.Key, errors.New("refused"))
		if got := k.status(set); got != "Ready=False CleaningUp, Stalled=True CleaningUp" {
			t.Errorf("it is %s", got)
		}
	})
}

func TestSensitive(t *testing.T) {
	sharp := &document.Error{Code: document.CodeSensitive, Path: "spec.rules[0]", Message: "writes secrets", Hint: "allow it"}
	other := &document.Error{Path: "spec.rules[1]", Message: "unknown"}
	doubt := &document.Error{Severity: document.Warning, Message: "doubtful"}
	cases := map[string]struct {
		reason   string
		all      document.Errors
		mistakes int
		want     string
	}{
		"nothing":  {reason: "It is well."},
		"sharp":    {reason: "It may be allowed.", all: document.Errors{sharp, doubt}, want: "spec.rules[0]: writes secrets; allow it"},
		"both":     {reason: "It is to be corrected first.", all: document.Errors{sharp, other}, mistakes: 2},
		"mistake":  {reason: "It is to be corrected.", all: document.Errors{other}, mistakes: 1},
		"doubtful": {reason: "That refuses nothing.", all: document.Errors{doubt}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mistakes, notAllowed := sensitive(tc.all)
			if len(mistakes) != tc.mistakes || text(notAllowed) != tc.want {
				t.Errorf("%s\ngot %v and %v", tc.reason, mistakes, notAllowed)
			}
		})
	}
}

// TestAccounts holds who has to do with a set object.
func TestAccounts(t *testing.T) {
	set := load(t, paints("color", "ann", "x"))
	base := asObject(t, paints("color", "ann", "x"))
	cases := map[string]struct {
		set  object
		want []string
	}{
		"running":         {object{Object: base, running: version{set: set}}, []string{"shop/ann"}},
		"refused":         {object{Object: base}, nil},
		"refused, old":    {object{Object: func() source.Object { s := leaving(base, "ann"); s.Deleting = false; return s }()}, nil},
		"deleted":         {object{Object: leaving(base, "bob", "ann", "bob"), running: version{set: set}}, []string{"shop/bob", "shop/ann"}},
		"deleted, clean":  {object{Object: leaving(base), running: version{set: set}}, nil},
		"a file has it":   {object{Object: base, running: version{set: set}, taken: true}, nil},
		"deleted, a file": {object{Object: leaving(base, "ann"), running: version{set: set}, taken: true}, nil},
	}
	for name, tc := range cases {
		var got []string
		for _, account := range tc.set.accounts() {
			got = append(got, account.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
