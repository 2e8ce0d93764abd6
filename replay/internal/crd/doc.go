// Package crd holds what a CustomResourceDefinition says: whether a server takes it,
// and what it makes of custom resources: which fields are pruned and defaulted, what is
// wrong with them, their status and scale.
//
// # What goes in, what comes out
//
// The JSON of a definition (apiextensions.k8s.io/v1) goes into [Read]; a [Definition]
// comes out, with a [Version] for each version. [Check] and [CheckUpdate] find what is
// wrong with a definition, in the words of k8s.io/apiextensions-apiserver. [Accept] and
// [Terminate] are its status controllers.
//
// # What isn't done
//
// CEL rules (x-kubernetes-validations) are kept and not evaluated: no custom resource
// is refused for one, and no definition for a rule that can't be compiled. Conversion
// webhooks aren't called: versions are converted as the strategy None does it. Of string formats,
// bsonobjectid, isbn, creditcard, ssn and the colors are accepted and not checked.
//
// # What it never does
//
// It reads no clock, and changes nothing but the objects that it is given to prune and
// default.
package crd
