package expression

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"

// Error says what is wrong with an expression or its evaluation, and where.
type Error = syntax.Error
