cask "deskbell" do
  version "{{.Version}}"
  sha256 "{{.SHA256}}"

  url "{{.Release}}/{{.File}}"
  name "Deskbell"
  desc "{{.About}}"
  homepage "{{.Homepage}}"

  livecheck do
    url :url
    strategy :github_latest
  end

  depends_on macos: ">= :big_sur"

  app "Deskbell.app"
  binary "#{appdir}/Deskbell.app/Contents/MacOS/deskbell"
  binary "#{appdir}/Deskbell.app/Contents/MacOS/deskbell-hook"

  uninstall quit: "org.deskbell.Deskbell"

  zap trash: "~/Library/Application Support/Deskbell"
end
