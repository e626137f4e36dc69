package import Timeline

/// The headers with which Anthropic's API shows how much of each rate is left, and when there is more.
///
/// - Source: platform.claude.com, rate limits: `anthropic-ratelimit-KIND-remaining`, and `-reset` as a moment of RFC 3339.
package enum RateHeaders {
    private static let kinds = ["requests", "tokens", "input-tokens", "output-tokens"]

    /// How long it takes until each rate that is used up has something left again; nil: the headers name none.
    ///
    /// `header` returns the value of a header by its name.
    package static func wait(now: Moment, header: (String) -> String?) -> Duration? {
        let ends = kinds.compactMap { kind -> Moment? in
            guard header("anthropic-ratelimit-\(kind)-remaining") == "0",
                let reset = header("anthropic-ratelimit-\(kind)-reset")
            else { return nil }
            return try? Moment(iso8601: reset)
        }
        return ends.max().map { max($0 - now, .zero) }
    }
}
