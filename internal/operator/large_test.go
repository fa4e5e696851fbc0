package operator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

// TestAccountCacheLimit holds that an account whose caches take too much does without them, that its sets say so, that
// others go on, and that it is tried again.
func TestAccountCacheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, func(o *Options) { o.Settings.AccountCache = 100_000 })
		k.account("shop", "ann")
		k.account("shop", "bob")
		large, small := asObject(t, strings.Replace(paints("color", "ann", "red"), "when: ", `when: object.data?.text != "none" && `, 1)), asObject(t, paintsServices("bobs", "bob"))
		k.store(large)
		k.store(small)
		k.setObjects(large, small)
		stop := k.start()
		defer stop()
		k.pass(moment)
		expect := func(reason string, limited bool) {
			t.Helper()
			status, other := k.status(large), k.status(small)
			if strings.Contains(status, "Stalled=True Unreachable") != limited || other != "Ready=True Running" {
				t.Errorf("%s\nthe large one: %s\nthe other: %s", reason, status, other)
			}
			if text := k.message(large); strings.Contains(text, "take more than 100000;") != limited {
				t.Errorf("%s\nit says: %s", reason, text)
			}
		}
		expect("There is little.", false)
		for i := range 20 {
			k.configMap("shop", fmt.Sprint("c", i), map[string]any{"text": strings.Repeat("x", 10_000)})
		}
		k.pass(moment)
		expect("It has grown.", true)
		k.pass(largeAgain)
		expect("It is too much still.", true)
		for i := range 20 {
			k.remove("configmaps", "shop", fmt.Sprint("c", i))
		}
		k.pass(largeAgain)
		expect("It has become small enough.", false)
		if got := k.painted("new", "color"); got != "red" {
			t.Errorf("it is %v", got)
		}
	})
}

// message is what the conditions of a set object say in words.
func (k *kit) message(set source.Object) string {
	var out []string
	for _, update := range k.updates() {
		if update.UID == set.UID {
			for _, condition := range update.Compose(update.Status).Conditions {
				out = append(out, condition.Message)
			}
		}
	}
	return strings.Join(out, "; ")
}
