import Delivery
import Engine
import Glibc
import Host
import Ledger
import Settings
import Tracking

/// Channels of the ledger: read as those of a file, with their secrets in `secrets/channel-NAME.KEY`.
struct OwnChannels: Sendable {
    private let entries: [ChannelEntry]
    private let state: String
    private let zones: ZoneCache

    /// Those of the ledger in this state folder.
    init(_ entries: [ChannelEntry], in state: String, zones: ZoneCache) {
        self.entries = entries
        self.state = state
        self.zones = zones
    }

    /// The file of a secret in this state folder.
    static func secretPath(_ state: String, _ name: String, _ key: String) -> String {
        "\(state)/secrets/channel-\(name).\(key)"
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Adds them to what the files say, where no channel of the files has their name.
    ///
    /// One whose secrets can't be read, or whose settings this version refuses, is left out with the reason.
    func join(_ configuration: inout Configuration) -> [ChannelEntry] {
        let taken = Set((configuration.channels + configuration.leftOut).map(\.name))
        var joined: [ChannelEntry] = []
        for entry in entries where !taken.contains(entry.name) {
            guard let setting = try? Self.setting(of: entry, in: state, leavesOut: true, zones) else {
                continue
            }
            if setting.fault == nil {
                configuration.channels.append(setting)
            } else {
                configuration.leftOut.append(setting)
            }
            joined.append(entry)
        }
        return joined
    }

    /// The channel that an entry describes.
    ///
    /// - Throws: sentences that a person reads, without the line of a text that nobody wrote.
    static func setting(
        of entry: ChannelEntry, in state: String, leavesOut: Bool, _ zones: ZoneCache
    ) throws -> ChannelSetting {
        var reader = ConfigurationReader(
            hostZone: zones.hostName, zone: { zones.rules(of: $0) }, readSecret: Secrets.read)
        reader.isOtherChannel = { _ in true }
        reader.leavesOutChannel = { _, _ in leavesOut }
        reader.programFault = { MachineLook.programFault($0) }
        let described = entry.settings { secretPath(state, $0, $1) }
        let text = JSON.object(["channels": .members([.init(entry.name, described)])])
        do throws(SettingsError) {
            let read = try reader.read(
                SourceText(name: entry.name, text: String(decoding: text.bytes, as: UTF8.self)))
            guard var setting = (read.channels + read.leftOut).first else {
                throw SettingsError(problems: [])
            }
            setting.place = EngineConfiguration.channelCommand
            return setting
        } catch {
            let fields = ChannelDraft.fields(ofKind: entry.settings["kind"]?.text ?? "")
            let sentences = error.problems.map {
                inFlags([$0.message, $0.hint].compactMap(\.self).joined(separator: "; "), fields)
            }
            throw Failure(
                sentences.isEmpty ? "it describes no channel" : sentences.joined(separator: ". And "))
        }
    }

    /// A sentence about the configuration file for whoever wrote flags of `channel add`.
    private static func inFlags(_ sentence: String, _ fields: [FormField]) -> String {
        fields.reduce(sentence) { sentence, field in
            let value = field.example.filter { !"[]".contains($0) }.replacing(", ", with: ",")
            let flag =
                field.shape == .secrets ? "pipe it in: --secret - < FILE" : "add --set \(field.name)=\(value)"
            return sentence.replacing(field.hint, with: flag)
                .replacing("under `\(field.name):`", with: "named by --set \(field.name)=")
                .replacing("`\(field.name):`", with: "--set \(field.name)=")
        }
    }
}

extension ChannelMaking {
    /// Channels whose secrets are kept in this state folder.
    static func inState(_ state: String, zones: ZoneCache, channels: Channels) -> ChannelMaking {
        let folder = state + "/secrets"
        return ChannelMaking(
            make: { entry in
                let setting = try OwnChannels.setting(of: entry, in: state, leavesOut: false, zones)
                let (channel, version) = try await channels.add(setting)
                return Made(channel, version: version, safety: setting.safety)
            },
            secretPath: { OwnChannels.secretPath(state, $0, $1) },
            keepSecret: { secret, path in
                try PrivateFolder.make(folder, within: state)
                try SmallFile.replace(path, with: Array((secret + "\n").utf8), isDurable: true)
            },
            removeSecret: { path in
                guard unsafe unlink(path) == 0 || errno == ENOENT else {
                    throw Failure(HostError.last("unlink", path).reason)
                }
            })
    }
}
