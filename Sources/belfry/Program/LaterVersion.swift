import API

// A table: what the contract names and this version does not do yet.

/// Words of the contract that belong to a later version; they are refused, and help does not name them.
enum LaterVersion {
    private static let commands: Set<String> = [
        "drain", "nodes",
    ]

    private static let flags: [String: Set<String>] = ["runs": ["--node"]]

    /// Why these arguments are refused; nil when nothing in them is of a later version.
    static func refusal(of arguments: [String]) -> APIError? {
        // A command's words stand first, one behind the other; a later one may be an option's value.
        let words = arguments.prefix { !$0.hasPrefix("-") }
        let names = [words.prefix(1), words.prefix(2)].map { $0.joined(separator: " ") }
        if let command = names.first(where: commands.contains) {
            return APIError(.notInThisVersion, "\"belfry \(command)\" is not in this version")
        }
        for name in names {
            let refused = arguments.first { argument in
                flags[name]?.contains(String(argument.prefix { $0 != "=" })) == true
            }
            if let refused {
                return APIError(
                    .notInThisVersion,
                    "\(refused.prefix { $0 != "=" }) of \"belfry \(name)\" is not in this version")
            }
        }
        return nil
    }

    /// The refusal of a value that a flag of this version will take later.
    static func refusal(of flag: String, _ value: String) -> APIError {
        APIError(.notInThisVersion, "\(flag) \(value) is not in this version")
    }
}
