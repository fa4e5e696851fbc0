package access

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Verdict is what is known of an account.
type Verdict struct {
	Finding // the last one
	// Known is false as long as nothing could be found out about the account, or about
	// the one that has replaced it.
	Known bool
	// Recreated says that this look found another account under the name than the one
	// that was known before. What was read as that one is not to be used any more.
	Recreated bool
	// Unknown is why the API server could not be asked. The rest is what was known before.
	Unknown error
}

// after is the verdict that a review leads to; last is the UID of the account that was
// there last.
func (v Verdict) after(finding Finding, err error, last types.UID) Verdict {
	recreated := last != "" && finding.UID != "" && finding.UID != last
	switch {
	case err == nil:
		return Verdict{Finding: finding, Known: true, Recreated: recreated}
	case recreated:
		return Verdict{Finding: Finding{UID: finding.UID}, Recreated: true, Unknown: err}
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
	return v.Known == other.Known && v.UID == other.UID && fmt.Sprint(v.Account) == fmt.Sprint(other.Account) &&
		(v.Unknown == nil) == (other.Unknown == nil) &&
		slices.Equal(v.Missing, other.Missing) && slices.Equal(v.Reviewed, other.Reviewed)
}
