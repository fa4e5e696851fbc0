package tenants

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// request is an entry of the audit log.
type request struct {
	AuditID    string
	Stage      string // ResponseStarted, of a watch, or ResponseComplete
	Verb       string
	RequestURI string
	UserAgent  string
	User       struct{ Username string }
	// ImpersonatedUser is who it was made as, empty for the user itself.
	ImpersonatedUser struct{ Username string }
	ObjectRef        struct{ Resource, Namespace, Name, APIGroup, Subresource string }
	ResponseStatus   struct{ Code int }
	// ResponseObject is there where the policy wants it.
	ResponseObject struct {
		Metadata metav1.ObjectMeta
		Data     map[string]string
		Spec     struct{ HolderIdentity string }
		Details  struct{ UID types.UID } // of a Status
	}

	RequestReceivedTimestamp, StageTimestamp metav1.MicroTime
}

// as is whose rights the request used.
func (r request) as() string {
	if r.ImpersonatedUser.Username != "" {
		return r.ImpersonatedUser.Username
	}
	return r.User.Username
}

// writes reports whether the request was to change something.
func (r request) writes() bool {
	return !slices.Contains([]string{"get", "list", "watch"}, r.Verb)
}

// granted reports whether the API server did what it was asked to.
func (r request) granted() bool { return r.ResponseStatus.Code < 300 }

// requests are the audited requests that began after a moment.
func requests(t *testing.T, since time.Time) []request {
	t.Helper()
	file, err := os.Open(audits)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var one request
		if json.Unmarshal(lines.Bytes(), &one) != nil {
			continue // The last line may be half written.
		}
		if one.RequestReceivedTimestamp.After(since) {
			out = append(out, one)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// about are the requests as a user about a resource that began after a moment.
func about(t *testing.T, since time.Time, user, resource string) []request {
	t.Helper()
	return slices.DeleteFunc(by(t, since, user), func(r request) bool { return r.ObjectRef.Resource != resource })
}

// by are the requests as a user that began after a moment.
func by(t *testing.T, since time.Time, user string) []request {
	t.Helper()
	return slices.DeleteFunc(requests(t, since), func(r request) bool { return r.as() != user })
}

// opened are all watches that there have ever been as a user, by the audit id.
func opened(t *testing.T, user string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, r := range by(t, time.Time{}, user) {
		if r.Verb == "watch" {
			out[r.AuditID] = true
		}
	}
	return out
}

// watching counts the watches of a resource that go on as a user.
func watching(t *testing.T, user, resource string) int {
	t.Helper()
	open := map[string]bool{}
	for _, r := range about(t, time.Time{}, user, resource) {
		if r.Verb == "watch" {
			open[r.AuditID] = true
			if r.Stage == "ResponseComplete" {
				delete(open, r.AuditID)
			}
		}
	}
	return len(open)
}
