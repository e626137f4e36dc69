import Timeline

/// A key of a form's settings.
package struct FormField: Hashable, Sendable {
    /// What its value is.
    package enum Shape: Hashable, Sendable {
        /// A text.
        case word
        /// A program and its arguments.
        case words
        /// A word or several.
        case list
        /// An http or https address; what may be a secret in it is hidden from errors.
        case address
        /// The address of a mail server; what may be a secret in it is hidden from errors.
        case mailServer
        /// A list of hosts, addresses and networks.
        case exceptions
        /// A length of time, as `30s`.
        case duration
        /// Where a secret is read from, or a list of such places while one secret replaces another.
        case secrets
    }

    /// The key.
    package let name: String
    /// What its value is.
    package let shape: Shape
    /// What it is for, as a clause that follows "is": `where webhooks are posted`.
    package let meaning: String
    /// A value for hints.
    package let example: String
    /// What a person should think of where it is left out; `nil`: nothing.
    package let doubt: String?

    /// A key.
    package init(
        _ name: String, _ shape: Shape, _ meaning: String, example: String, doubt: String? = nil
    ) {
        self.name = name
        self.shape = shape
        self.meaning = meaning
        self.example = example
        self.doubt = doubt
    }

    /// How to write it: `write url: https://host/path`.
    package var hint: String { "write \(name): \(example)" }
}

/// The values of a form's settings, by key; of secrets only where they are read from.
package struct FormValues: Hashable, Sendable {
    /// One value.
    package enum Value: Hashable, Sendable {
        case word(String)
        case words([String])
        case address(HTTPAddress)
        case exceptions([AddressException])
        case duration(Duration)
        case secrets([SecretSource])
    }

    private var values: [String: Value] = [:]

    /// Nothing yet.
    package init() {}

    /// The value of a key.
    package subscript(key: String) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// The text of a key that can't be left out.
    package func word(_ key: String) throws(FormError) -> String {
        guard case .word(let text)? = values[key] else { throw .missing(key) }
        return text
    }

    /// The text of a key; `nil` where it is left out.
    package func text(_ key: String) -> String? {
        if case .word(let text)? = values[key] { text } else { nil }
    }

    /// The address of a key; where it is left out, `usual`.
    package func address(_ key: String, or usual: String) throws(FormError) -> HTTPAddress {
        guard case .address(let address)? = values[key] else { return try HTTPAddress(usual) }
        return address
    }

    /// The address of a key that can't be left out.
    package func address(_ key: String) throws(FormError) -> HTTPAddress {
        guard case .address(let address)? = values[key] else { throw .missing(key) }
        return address
    }

    /// Where the secrets of a key are read from that can't be left out; what they hold comes with each attempt.
    @discardableResult
    package func secrets(_ key: String) throws(FormError) -> [SecretSource] {
        guard case .secrets(let sources)? = values[key], !sources.isEmpty else { throw .missing(key) }
        return sources
    }

    /// The exceptions of a key; none where it is left out.
    package func exceptions(_ key: String) -> [AddressException] {
        if case .exceptions(let exceptions)? = values[key] { exceptions } else { [] }
    }

    /// The duration of a key; `nil` where it is left out.
    package func duration(_ key: String) -> Duration? {
        if case .duration(let duration)? = values[key] { duration } else { nil }
    }
}

/// Where a secret is read from; the secret itself is never in the config text.
package enum SecretSource: Hashable, Sendable {
    /// A file, by its absolute path; white space at its end is not part of the secret.
    case file(String)
    /// A systemd credential, by its name.
    case credential(String)
    /// An environment variable, by its name.
    case environment(String)
    /// The keyring of the user's session, where it is known by this name.
    case service(String)
}

extension SecretSource: CustomStringConvertible {
    /// The place, which is no secret: `file /etc/belfry/hook.secret`.
    package var description: String {
        switch self {
        case .file(let path): "file \(path)"
        case .credential(let name): "credential \(name)"
        case .environment(let name): "environment variable \(name)"
        case .service(let name): "secret service \(name)"
        }
    }
}

/// The contents of a channel's secrets, by the key that names them; never shown or logged.
package struct FormSecrets: Hashable, Sendable {
    private var contents: [String: [String]]

    /// The secrets of these keys, in their order.
    package init(_ contents: [String: [String]] = [:]) {
        self.contents = contents.filter { !$0.value.isEmpty }
    }

    /// The secrets of a key, in their order.
    package subscript(key: String) -> [String] { contents[key] ?? [] }

    /// The keys that name any, in alphabetical order.
    package var keys: [String] { contents.keys.sorted() }

    /// `text` with `…` in the place of every secret, of what stands behind the host of one that is an address, and of each
    /// long piece of that: the token at its end is what counts.
    package func hidden(in text: String) -> String {
        let words = contents.values.joined().flatMap { $0.split(whereSeparator: \.isWhitespace) }
        let targets = words.compactMap { word in
            (try? HTTPAddress(String(word)))?.target.drop { $0 == "/" }
        }
        let marks: Set<Character> = ["/", "?", "&", "=", ":"]
        // The host of an address is shown.
        let pieces = (words.filter { (try? HTTPAddress(String($0))) == nil } + targets)
            .flatMap { $0.split { marks.contains($0) } }.filter { $0.utf8.count >= Self.longPiece }
        // The longest first: one may be a part of another. A secret of three letters is part of too many words.
        return (words + targets + pieces).filter { $0.utf8.count > 3 }.sorted {
            $0.utf8.count > $1.utf8.count
        }
        .reduce(text) { $0.replacing($1, with: "…") }
    }

    /// A shorter piece of an address may be a word, such as `services`.
    private static let longPiece = 12
}

extension FormSecrets: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The keys alone.
    package var description: String { "secrets of \(keys)" }

    /// The same: no debugger's print-out shows a secret.
    package var debugDescription: String { description }

    /// Nothing to look into.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a channel's description is refused.
///
/// Ranges are bytes of the text at fault.
package enum FormError: Error, Hashable, Sendable {
    /// A key that can't be left out is.
    case missing(String)
    /// A value that the form can't work with, and why, as a sentence without a full stop.
    case unfit(String, String)
    /// The address does not begin with `https://` or `http://`.
    case unknownScheme(Range<Int>)
    /// A name or password before an `@` would be a secret in the config text.
    case secretInURL(Range<Int>)
    /// No host, or one with characters that no host has.
    case badHost(Range<Int>)
    /// The port is not a number from 1 to 65535.
    case badPort(Range<Int>)
    /// A blank, a control character or a fragment.
    case badTarget(Range<Int>)
    /// Plain http to a host that is not on the allow list.
    case plainHTTP(host: String)
    /// An address that is not public and not on the allow list.
    case notPublic(host: String)
    /// An entry of the allow list is neither a host, an address nor a network.
    case badException(String)
    /// A timeout is not above zero, or above its longest.
    case badTimeout(Duration, longest: Duration)
}

extension FormError: CustomStringConvertible {
    /// One sentence, with what to do where there is one thing to do.
    package var description: String {
        switch self {
        case .missing(let key): "\(key) is missing"
        case .unfit(_, let reason): reason
        case .unknownScheme: "the address must begin with https:// (or http://, for hosts under `allow:`)"
        case .secretInURL: "a name or password in the address would be readable here; use `secret:`"
        case .badHost: "this is not a host"
        case .badPort: "the port must be a number from 1 to 65535"
        case .badTarget: "the address may hold no blank, control character or fragment"
        case .plainHTTP(let host): "plain http goes only to hosts under `allow:`; add \(host), or use https"
        case .notPublic(let host): "\(host) is no public address; add it under `allow:`"
        case .badException(let text):
            "\"\(text)\" is not a host, an address or a network such as 10.0.0.0/8"
        case .badTimeout(_, let longest): "the timeout must be above 0s and at most \(longest.text)"
        }
    }

    /// The bytes at fault, where it is a part of the text.
    package var range: Range<Int>? {
        switch self {
        case .unknownScheme(let range), .secretInURL(let range), .badHost(let range), .badPort(let range),
            .badTarget(let range):
            range
        case .missing, .unfit, .plainHTTP, .notPublic, .badException, .badTimeout: nil
        }
    }

    /// The key whose value is at fault; `nil`: the form's first one.
    package var key: String? {
        switch self {
        case .missing(let key), .unfit(let key, _): key
        case .badTimeout: HTTPReach.timeoutKey
        case .badException: HTTPReach.allowKey
        case .unknownScheme, .secretInURL, .badHost, .badPort, .badTarget, .plainHTTP, .notPublic: nil
        }
    }
}
