package import API
package import ArgumentParser

extension RunName: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    package static var defaultCompletionKind: CompletionKind { Completions.runs }
}
