package access

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Verdict is what is known of an account.
type Verdict struct {
	// Known is false as long as nothing could be found out about the account, or about
	// the one that has replaced it.
	Known bool
	// Account is why nobody can act as the account, as of a [Finding].
	Account error
	// UID is that of the account, empty where there is none and for the process itself.
	UID types.UID
	// Recreated says that this look found another account under the name than the one
	// that was known before. What was read as that one is not to be used any more.
	Recreated bool
	// Missing are the permissions that the account lacks, sorted.
	Missing []plan.Permission
	// Unknown is why the API server could not be asked. The rest is what was known before.
	Unknown error
}

// after is the verdict that a review leads to; last is the UID of the account that was
// there last.
func (v Verdict) after(finding Finding, err error, last types.UID) Verdict {
	recreated := last != "" && finding.UID != "" && finding.UID != last
	switch {
	case err == nil:
		return Verdict{Known: true, Account: finding.Account, UID: finding.UID, Recreated: recreated, Missing: finding.Missing}
	case recreated:
		return Verdict{UID: finding.UID, Recreated: true, Unknown: err}
	default:
		v.Recreated, v.Unknown = false, err
		return v
	}
}

// troubled reports whether something may be put right at any moment.
func (v Verdict) troubled() bool {
	return v.Account != nil || len(v.Missing) > 0 || v.Unknown != nil
}

// same reports whether nobody need be told. Why the API server cannot be asked is often
// said in other words.
func (v Verdict) same(other Verdict) bool {
	return v.Known == other.Known && v.UID == other.UID && text(v.Account) == text(other.Account) &&
		(v.Unknown == nil) == (other.Unknown == nil) && slices.Equal(v.Missing, other.Missing)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
