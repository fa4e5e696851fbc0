package access

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// ErrNoAccount is what is wrong where rules act as a ServiceAccount that does not
// exist. The API server would let one act as it all the same.
var ErrNoAccount = errors.New("there is no such ServiceAccount")

// ImpersonationError says that the process may not act as a ServiceAccount.
type ImpersonationError struct {
	Account types.NamespacedName
	Err     error // the answer of the API server
}

// Error names the right that the process lacks.
func (e *ImpersonationError) Error() string {
	return fmt.Sprintf("dyncontroller may not act as ServiceAccount %s: it lacks the verb impersonate on serviceaccounts %q in namespace %s",
		e.Account, e.Account.Name, e.Account.Namespace)
}

// Unwrap returns the answer of the API server.
func (e *ImpersonationError) Unwrap() error { return e.Err }

// Impersonate returns a copy of the configuration that acts as the account, with the
// credentials of the original; for the empty account it is the same as the original.
// Groups are left to the API server: it adds system:serviceaccounts, that of the
// namespace and system:authenticated, while asking for them would take the right to
// impersonate groups. Whom the original acts as is replaced, as one cannot act as
// somebody through somebody else.
func Impersonate(config *rest.Config, account types.NamespacedName) *rest.Config {
	config = rest.CopyConfig(config)
	if account != (types.NamespacedName{}) {
		config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + account.Namespace + ":" + account.Name}
	}
	return config
}
