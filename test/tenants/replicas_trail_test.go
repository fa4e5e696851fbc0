package tenants

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// trail is an audit log that is read while it grows, and told apart by who wrote.
type trail struct {
	path   string
	offset int64                // of the first line that is not read
	writes map[string][]request // what was to change something, by the user, in the order of the answers
	leases []request            // of the processes, about leases
	newest time.Time            // when the last of the others arrived
	stored []request            // what anybody has changed, with the objects, where the policy has them logged
}

// read takes what is new, up to the last whole line.
func (tr *trail) read(t *testing.T) {
	t.Helper()
	tr.offset = readLog(t, tr.path, tr.offset, tr.take)
}

// take notes a request. The lease says who may write, and a review is a question.
func (tr *trail) take(one request) {
	switch {
	case one.ObjectRef.Resource == "leases":
		tr.leases = append(tr.leases, one)
	case one.ResponseObject.Metadata.UID != "" || one.ResponseObject.Details.UID != "":
		tr.stored = append(tr.stored, one)
	}
	switch {
	case one.ObjectRef.Resource == "leases" || !strings.HasPrefix(one.User.Username, crewUser):
	case one.writes() && one.ObjectRef.APIGroup != "authorization.k8s.io":
		tr.writes[one.User.Username] = append(tr.writes[one.User.Username], one)
		if one.RequestReceivedTimestamp.After(tr.newest) {
			tr.newest = one.RequestReceivedTimestamp.Time
		}
	}
}

// crewUser is how the API server knows a process, up to its name.
const crewUser = "system:serviceaccount:" + crew + ":"

// user is how the API server knows the process.
func (r *member) user() string { return crewUser + r.name }

// of are the requests of one process that were to change something.
func (tr *trail) of(who *member) []request { return tr.writes[who.user()] }

// byRules reports whether a request is one of rules, and was granted.
func (r request) byRules() bool { return r.granted() && r.ImpersonatedUser.Username != "" }

// began is the first write of rules through a process that landed, nil for none.
func (tr *trail) began(who *member) *request {
	all := tr.of(who)
	if i := slices.IndexFunc(all, request.byRules); i >= 0 {
		return &all[i]
	}
	return nil
}

// ended is when the last write of rules through a process landed.
func (tr *trail) ended(who *member) time.Time {
	for _, one := range slices.Backward(tr.of(who)) {
		if one.byRules() {
			return one.StageTimestamp.Time
		}
	}
	return time.Time{}
}

// tenure is when a process has written something.
type tenure struct {
	who         string
	first, last time.Time
	uri         string // of the last
}

// checkTenures holds that the processes wrote one after the other, whatever it was.
func (tr *trail) checkTenures(t *testing.T) {
	t.Helper()
	var inOrder []tenure
	refused := map[int]int{}
	for _, who := range slices.Sorted(maps.Keys(tr.writes)) {
		var is tenure
		for _, one := range tr.writes[who] {
			if !one.granted() {
				refused[one.ResponseStatus.Code]++
				continue
			}
			if began := one.RequestReceivedTimestamp.Time; is.who == "" || began.Before(is.first) {
				is.who, is.first = who, began
			}
			if one.StageTimestamp.After(is.last) {
				is.last, is.uri = one.StageTimestamp.Time, one.RequestURI
			}
		}
		if is.who != "" {
			inOrder = append(inOrder, is)
		}
	}
	slices.SortFunc(inOrder, func(a, b tenure) int { return cmp.Compare(a.first.UnixMicro(), b.first.UnixMicro()) })
	for i, is := range inOrder[1:] {
		if before := inOrder[i]; !before.last.Before(is.first) {
			t.Errorf("%s wrote %s until %s, %s from %s on", before.who, before.uri, before.last, is.who, is.first)
		}
	}
	t.Logf("%d processes have written, one after the other; refused writes by code: %v", len(inOrder), refused)
}
