package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedauthorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// timeout is how long one question may take.
	timeout = 10 * time.Second
	// atOnce is how many questions are asked side by side.
	atOnce = 4
)

// Finding is what a review has found out.
type Finding struct {
	// Account is why nobody can act as the account: [ErrNoAccount] or an
	// [ImpersonationError]; nil where it is there and may be acted as.
	Account error
	// UID tells the account from another one of the same name that came before. It is
	// empty where there is none, and for the process itself.
	UID types.UID
	// Missing are the permissions that the account lacks, sorted.
	Missing []plan.Permission
}

// Reviewer asks the API server about one account. It is safe for concurrent use.
type Reviewer struct {
	account  types.NamespacedName
	accounts typedcorev1.ServiceAccountsGetter
	process  typedauthorizationv1.SelfSubjectAccessReviewInterface
	reviews  typedauthorizationv1.SelfSubjectAccessReviewInterface // as the account
}

// NewReviewer returns a reviewer of an account, which is that of the process where it
// is empty; config is the process's own.
func NewReviewer(config *rest.Config, account types.NamespacedName) (*Reviewer, error) {
	accounts, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for ServiceAccounts: %w", err)
	}
	process, err := typedauthorizationv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for access reviews: %w", err)
	}
	as, err := typedauthorizationv1.NewForConfig(Impersonate(config, account))
	if err != nil {
		return nil, fmt.Errorf("making a client for access reviews as ServiceAccount %s: %w", account, err)
	}
	return &Reviewer{
		account: account, accounts: accounts,
		process: process.SelfSubjectAccessReviews(), reviews: as.SelfSubjectAccessReviews(),
	}, nil
}

// Review finds out what the account lacks of the permissions. An error says that the
// API server could not be asked; the UID is known even then, unless it is empty.
func (r *Reviewer) Review(ctx context.Context, permissions []plan.Permission) (Finding, error) {
	var out Finding
	var err error
	out.UID, err = r.uid(ctx)
	if errors.Is(err, ErrNoAccount) {
		return Finding{Account: err}, nil
	}
	if err != nil {
		return Finding{}, err
	}
	missing, err := r.missing(ctx, permissions)
	if denied, is := errors.AsType[*ImpersonationError](err); is {
		out.Account = denied
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Missing = missing
	return out, nil
}

// uid is that of the account. One that is being deleted is gone: its tokens are good
// for nothing any more.
func (r *Reviewer) uid(ctx context.Context) (types.UID, error) {
	if r.account == (types.NamespacedName{}) {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := r.accounts.ServiceAccounts(r.account.Namespace).Get(ctx, r.account.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && found.DeletionTimestamp != nil:
		return "", fmt.Errorf("%w: %s", ErrNoAccount, r.account)
	case err != nil:
		return "", fmt.Errorf("asking whether there is ServiceAccount %s: %w", r.account, err)
	default:
		return found.UID, nil
	}
}

// missing asks for each permission, a few at a time. After one error nothing more is
// asked, so that an API server that does not answer is waited for only once.
func (r *Reviewer) missing(ctx context.Context, permissions []plan.Permission) ([]plan.Permission, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	lacks := make([]bool, len(permissions))
	slots := make(chan struct{}, atOnce)
	var asking sync.WaitGroup
	for i, permission := range permissions {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		asking.Go(func() {
			defer func() { <-slots }()
			allowed, err := r.allowed(ctx, permission)
			if err != nil {
				stop(err) // The first stays.
			}
			lacks[i] = !allowed
		})
	}
	asking.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var out []plan.Permission
	for i, permission := range permissions {
		if lacks[i] {
			out = append(out, permission)
		}
	}
	slices.SortFunc(out, plan.Permission.Compare)
	return out, nil
}

// allowed asks whether the account has a permission.
func (r *Reviewer) allowed(ctx context.Context, p plan.Permission) (bool, error) {
	allowed, err := ask(ctx, r.reviews, authorizationv1.ResourceAttributes{
		Verb: p.Verb, Group: p.Resource.Group, Resource: p.Resource.Resource, Subresource: p.Subresource, Namespace: p.Namespace, Name: p.Name,
	})
	if apierrors.IsForbidden(err) {
		if denied := r.denied(ctx, err); denied != nil {
			return false, denied
		}
	}
	if err != nil {
		return false, fmt.Errorf("asking whether ServiceAccount %s may %s: %w", r.account, p, err)
	}
	return allowed, nil
}

// denied tells whether it is forbidden to act as the account, or for the account to
// ask, which the text of an answer says in too many ways. It is nil for the latter.
func (r *Reviewer) denied(ctx context.Context, answer error) error {
	if r.account == (types.NamespacedName{}) {
		return nil
	}
	may, err := ask(ctx, r.process, authorizationv1.ResourceAttributes{
		Verb: "impersonate", Resource: "serviceaccounts", Namespace: r.account.Namespace, Name: r.account.Name,
	})
	switch {
	case err != nil:
		return fmt.Errorf("asking whether one may act as ServiceAccount %s: %w", r.account, err)
	case may:
		return nil
	default:
		return &ImpersonationError{Account: r.account, Err: answer}
	}
}

func ask(ctx context.Context, as typedauthorizationv1.SelfSubjectAccessReviewInterface, about authorizationv1.ResourceAttributes) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	about.Version = "*"
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &about}}
	answer, err := as.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err //nolint:wrapcheck // The callers say what was asked.
	}
	return answer.Status.Allowed, nil
}
