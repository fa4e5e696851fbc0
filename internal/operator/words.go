package operator

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// say logs what has become of the rights, where that is news.
func (t *tenant) say(before access.Verdict) {
	now := t.verdict
	switch {
	case text(now.Account) != text(before.Account):
		if now.Account != nil {
			t.log.Warn("rules rest: they cannot act as their ServiceAccount", "err", now.Account)
		} else {
			t.log.Info("rules can act as their ServiceAccount again")
		}
	case !slices.Equal(now.Missing, before.Missing):
		if len(now.Missing) > 0 {
			t.log.Warn("permissions are missing", "permissions", sentence(now.Missing))
		} else {
			t.log.Info("no permission is missing any more")
		}
	case text(now.Unknown) != text(before.Unknown) && now.Unknown != nil:
		t.log.Warn("cannot ask what rules may do", "err", now.Unknown)
	}
}

// sentence lists permissions for people.
func sentence(all []plan.Permission) string {
	texts := make([]string, len(all))
	for i, permission := range all {
		texts[i] = permission.String()
	}
	return strings.Join(texts, ", ")
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// accountName names an identity in messages.
func accountName(account types.NamespacedName) string {
	if account == (types.NamespacedName{}) {
		return "dyncontroller itself"
	}
	return "ServiceAccount " + account.String()
}
