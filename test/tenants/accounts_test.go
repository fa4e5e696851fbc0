package tenants

import (
	"testing"
	"time"
)

const aConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NAMESPACE, annotations: {color: red}}\n"

// yard is a namespace with a set of the account bot, and one of the account neighbour.
type yard struct{ namespace, bot string }

func newYard(t *testing.T) yard {
	t.Helper()
	namespace := cluster(t).Namespace(t)
	account(t, cluster(t), namespace, "bot", may("get, list, watch, patch"))
	account(t, cluster(t), namespace, "neighbour", mayPaint)
	apply(t, cluster(t), namespace, painter("guard", "bot", "configmaps")+"---\n"+painter("other", "neighbour", "limitranges"))
	apply(t, cluster(t), namespace, aConfigMap)
	apply(t, cluster(t), namespace, "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: NAMESPACE, annotations: {color: red}}\nspec: {limits: []}\n")
	return yard{namespace, "system:serviceaccount:" + namespace + ":bot"}
}

func (y yard) remove(t *testing.T) {
	t.Helper()
	remove(t, cluster(t), serviceaccounts, y.namespace, "bot")
}

func (y yard) remake(t *testing.T) {
	t.Helper()
	apply(t, cluster(t), y.namespace, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: bot, namespace: NAMESPACE}\n")
}

func (y yard) paint(t *testing.T, color string) {
	t.Helper()
	patch := `{"metadata": {"annotations": {"color": "` + color + `"}}}`
	edit(t, cluster(t), configmaps, y.namespace, "a", patch)
	edit(t, cluster(t), limitranges, y.namespace, "a", patch)
}

// neighbour waits until the set of the other account has painted.
func (y yard) neighbour(t *testing.T, color string) {
	t.Helper()
	eventually(t, "the neighbour paints it "+color, func() bool { return label(t, limitranges, y.namespace, "painted") == color })
}

// works waits until guard is ready and has painted.
func (y yard) works(t *testing.T, color string) {
	t.Helper()
	eventually(t, "guard paints it "+color, func() bool { return label(t, configmaps, y.namespace, "painted") == color })
	eventually(t, "guard is ready", func() bool {
		status, _, _ := condition(t, cluster(t), ruleSets, y.namespace, "guard", "Ready")
		return status == "True"
	})
	if status, _, message := condition(t, cluster(t), ruleSets, y.namespace, "guard", "Stalled"); status != "" {
		t.Errorf("guard is ready, and stalled: %s", message)
	}
}

// refused waits for guard to say that there is nobody to act as.
func (y yard) refused(t *testing.T, limit time.Duration, want string) {
	t.Helper()
	var message string
	within(t, limit, "guard says why it cannot act", func() bool {
		status, reason, text := condition(t, cluster(t), ruleSets, y.namespace, "guard", "Ready")
		message = text
		return status == "False" && reason == "NoServiceAccount"
	})
	if message != want {
		t.Errorf("the message is %q, want %q", message, want)
	}
	if status, reason, _ := condition(t, cluster(t), ruleSets, y.namespace, "guard", "Stalled"); status != "True" || reason != "NoServiceAccount" {
		t.Errorf("Stalled is %q for the reason %q", status, reason)
	}
}

// silent checks that nothing is sent as the account while others work, and nothing is
// watched.
func (y yard) silent(t *testing.T, since time.Time) {
	t.Helper()
	if sent := by(t, since, y.bot); len(sent) > 0 {
		t.Errorf("requests as an account that is not there: %+v", sent)
	}
	eventually(t, "the watches as the account end", func() bool { return watching(t, y.bot, "configmaps") == 0 })
}

func (y yard) uid(t *testing.T) string {
	t.Helper()
	uid, _ := field(get(t, cluster(t), serviceaccounts, y.namespace, "bot"), "metadata", "uid").(string)
	return uid
}

// TestAccountIsNotThere holds that nothing is done as an account that does not exist,
// though the API server would allow it, and that it is once the account is there.
func TestAccountIsNotThere(t *testing.T) {
	virtually(t, func(t *testing.T) {
		y := newYard(t)
		y.remove(t)
		began := time.Now()
		start(t, cluster(t))
		missing := "there is no such ServiceAccount: " + y.namespace + "/bot"
		y.refused(t, noticed, missing)
		y.neighbour(t, "red")
		y.paint(t, "blue")
		y.neighbour(t, "blue")
		y.silent(t, began)
		if got := label(t, configmaps, y.namespace, "painted"); got != nil {
			t.Errorf("painted %v by an account that does not exist", got)
		}
		made := time.Now()
		y.remake(t)
		y.works(t, "blue")
		t.Logf("ready %s after the account was made", time.Since(made).Round(time.Millisecond))
	})
}

// TestAccountDeleted holds that an account which is deleted is not acted as any more,
// though its RoleBinding stays, and that another one of its name is.
func TestAccountDeleted(t *testing.T) {
	virtually(t, func(t *testing.T) {
		y := newYard(t)
		startLooking(t, cluster(t), often)
		y.works(t, "red")
		uid := y.uid(t)
		deleted := time.Now()
		y.remove(t)
		y.refused(t, noticed, "there is no such ServiceAccount: "+y.namespace+"/bot")
		t.Logf("refused %s after the account was deleted", time.Since(deleted).Round(time.Millisecond))

		silent := moment()
		y.paint(t, "green")
		y.neighbour(t, "green")
		y.silent(t, silent)
		if got := label(t, configmaps, y.namespace, "painted"); got != "red" {
			t.Errorf("painted %v by an account that does not exist", got)
		}

		made := time.Now()
		y.remake(t)
		if y.uid(t) == uid {
			t.Fatal("it is the same account")
		}
		y.works(t, "green")
		t.Logf("recovered %s after the account was made again", time.Since(made).Round(time.Millisecond))
	})
}

// TestAccountReplaced holds that what was read as an account is not used for another one
// of its name, though nobody saw a moment without one.
func TestAccountReplaced(t *testing.T) {
	virtually(t, func(t *testing.T) {
		y := newYard(t)
		startLooking(t, cluster(t), often)
		y.works(t, "red")
		before := opened(t, y.bot)
		y.remove(t)
		y.remake(t)
		replaced := time.Now()
		within(t, noticed, "it reads anew as the new account", func() bool {
			now := opened(t, y.bot)
			return watching(t, y.bot, "configmaps") == 1 && len(now) > len(before)
		})
		t.Logf("read anew %s after the account was replaced", time.Since(replaced).Round(time.Millisecond))
		y.paint(t, "blue")
		y.works(t, "blue")
		y.neighbour(t, "blue")
	})
}
