package import Delivery
package import Ledger
import Logging
import Timeline
package import Tracking

/// Channels that are made on the command line: kept in the ledger, in the form that the configuration file has.
package struct ChannelMaking: Sendable {
    /// A channel as it was made, with the version of its connections.
    package struct Made: Sendable {
        var channel: any Channel
        var version: Int
        var safety: ChannelSafety

        package init(_ channel: any Channel, version: Int, safety: ChannelSafety = ChannelSafety()) {
            self.channel = channel
            self.version = version
            self.safety = safety
        }
    }

    /// Makes the channel of an entry, whose secrets are read where they are kept.
    ///
    /// It throws sentences that a person reads.
    let make: @Sendable (_ entry: ChannelEntry) async throws -> Made
    /// The path of the file that keeps the secret of that key of a channel of that name.
    let secretPath: @Sendable (_ name: String, _ key: String) -> String
    /// Writes a secret there, for nobody else to read.
    let keepSecret: @Sendable (_ secret: String, _ path: String) throws -> Void
    /// Removes the file; nothing happens where there is none.
    let removeSecret: @Sendable (_ path: String) throws -> Void

    package init(
        make: @escaping @Sendable (_ entry: ChannelEntry) async throws -> Made,
        secretPath: @escaping @Sendable (_ name: String, _ key: String) -> String,
        keepSecret: @escaping @Sendable (_ secret: String, _ path: String) throws -> Void,
        removeSecret: @escaping @Sendable (_ path: String) throws -> Void
    ) {
        self.make = make
        self.secretPath = secretPath
        self.keepSecret = keepSecret
        self.removeSecret = removeSecret
    }

    /// Makes none, where nobody can.
    package static let none = ChannelMaking(
        make: { _ in throw EngineError.starting }, secretPath: { "\($0).\($1)" }, keepSecret: { _, _ in },
        removeSecret: { _ in })
}

extension EngineConfiguration {
    /// The place of channels that were made on the command line.
    package static let channelCommand = "belfry channel add"

    /// Adds a route for a channel that was made on the command line; without words, the usual ones.
    package mutating func addRoute(to channel: String, when words: [String]) {
        routing = routing.adding(channel, when: Set(words.compactMap(RouteWord.init(rawValue:))))
    }

    /// The names of all channels, also of those that were left out.
    var channelNames: Set<String> { Set(channels.map(\.name) + leftOut.compactMap { $0.channel?.name }) }
}

extension Control {
    /// Adds a channel; its `secrets`, by key of its settings, go into files of the state, and nowhere else.
    package func addChannel(
        _ name: String, _ settings: JSON, secrets: [String: String], when words: [String]
    ) async throws(EngineError) {
        if let fault = JobName.fault(in: name) {
            throw .invalid("\"\(name)\" is not a valid channel name: \(fault)")
        }
        for word in words where RouteWord(rawValue: word) == nil {
            throw .invalid("\"\(CleanText.line(word, limit: 40))\" is not a word of routes")
        }
        // A key is a part of a file's name.
        for key in secrets.keys where !key.allSatisfy({ $0.isASCII && $0.isLetter }) {
            throw .invalid("\"\(CleanText.line(key, limit: 40))\" is not a setting that holds a secret")
        }
        try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
            let entries = try await read { () async throws(LedgerError) in try await ledger.channelEntries() }
            let own = entries.contains { $0.name == name }
            if own || activeConfiguration.configuration.channelNames.contains(name) {
                throw .channelExists(name, isOfFile: !own)
            }
            var entry = ChannelEntry(name: name, settings: settings, when: words)
            for key in secrets.keys { entry.settings[key] = ChannelEntry.keptSecret }
            do throws(EngineError) {
                try await put(entry, secrets)
            } catch {
                for key in secrets.keys { try? ownChannels.removeSecret(ownChannels.secretPath(name, key)) }
                throw error
            }
        }
    }

    /// Removes a channel that was made on the command line, with its secrets, and gives up what waits for it: one of that
    /// name that is made later may lead to somebody else.
    ///
    /// - Returns: how many entries were given up.
    package func removeChannel(_ name: String) async throws(EngineError) -> Int {
        try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
            let entries = try await read { () async throws(LedgerError) in try await ledger.channelEntries() }
            guard let entry = entries.first(where: { $0.name == name }) else {
                guard activeConfiguration.configuration.channelNames.contains(name) else {
                    throw .noSuchChannel(name)
                }
                throw .channelOfFile(name, path: activeConfiguration.configuration.path)
            }
            let isOwn = activeConfiguration.configuration.ownChannels.contains(name)
            let waiting = isOwn ? try await waitingEntries(of: name) : 0
            // What waits for one of that name in the files stays.
            try await commit(
                [.removeChannelEntry(name: name)]
                    + (isOwn ? [.discardOutbox(channel: name, at: clock.now)] : []))
            // One of that name in the files stays.
            activeConfiguration.change { configuration in
                guard configuration.ownChannels.remove(name) != nil else { return }
                configuration.channels.removeAll { $0.name == name }
                configuration.leftOut.removeAll { $0.channel?.name == name }
                configuration.safety[name] = nil
                configuration.routing = configuration.routing.removing(name)
            }
            do {
                for key in entry.keptSecrets {
                    try ownChannels.removeSecret(ownChannels.secretPath(name, key))
                }
            } catch {
                throw .keyFile("removed, but a file of its secrets could not be deleted: \(error)")
            }
            return waiting
        }
    }

    // MARK: Steps

    private func put(_ entry: ChannelEntry, _ secrets: [String: String]) async throws(EngineError) {
        let made: ChannelMaking.Made
        do {
            for (key, secret) in secrets {
                try ownChannels.keepSecret(secret, ownChannels.secretPath(entry.name, key))
            }
            made = try await ownChannels.make(entry)
            if let fallback = made.safety.fallback,
                !activeConfiguration.configuration.channelNames.contains(fallback)
            {
                throw EngineError.noSuchChannel(fallback)
            }
        } catch {
            throw .invalid("\(error)")
        }
        try await commit([.putChannelEntry(entry)])
        activeConfiguration.change { configuration in
            configuration.channels.append(made.channel)
            configuration.versions[entry.name] = made.version
            configuration.ownChannels.insert(entry.name)
            if made.safety != ChannelSafety() { configuration.safety[entry.name] = made.safety }
            configuration.addRoute(to: entry.name, when: entry.when)
        }
    }
}
