// What Evermoor needs on Linux, how to detect it, and how to install it.
//
// Detects the program or library itself, not a package, so it works on any distribution and with manual installations.

/** To compile: the TLS library contains C code. */
export const toCompile = [
  { what: "a C compiler", program: "cc", apt: "build-essential", pacman: "base-devel", rpm: ["gcc", "gcc-c++", "make"] },
];

/** To build and run the tray application. A server without a display needs none of it. */
export const forTheTray = [
  { what: "pkg-config, which finds libraries", program: "pkg-config", apt: "pkg-config", pacman: "pkgconf" },
  { what: "WebKit, which draws the window", library: "webkit2gtk-4.1", apt: "libwebkit2gtk-4.1-dev", pacman: "webkit2gtk-4.1" },
  {
    what: "AppIndicator, which shows the tray icon",
    library: "ayatana-appindicator3-0.1",
    apt: "libayatana-appindicator3-dev",
    pacman: "libayatana-appindicator",
  },
];

/** To test the tray application and the keychain on a machine without a display. */
export const forTheTests = [
  { what: "a virtual display", program: "Xvfb", apt: "xvfb", pacman: "xorg-server-xvfb" },
  { what: "its access control", program: "xauth", apt: "xauth", pacman: "xorg-xauth" },
  { what: "a session bus", program: "dbus-run-session", apt: "dbus", pacman: "dbus" },
  { what: "a driver for the window", program: "WebKitWebDriver", apt: "webkit2gtk-driver", pacman: "webkit2gtk-4.1" },
  { what: "a browser", program: "chromium", apt: "chromium", pacman: "chromium" },
  { what: "screenshots", program: "import", apt: "imagemagick", pacman: "imagemagick" },
  { what: "a keychain", program: "gnome-keyring-daemon", apt: "gnome-keyring", pacman: "gnome-keyring" },
  { what: "a tool that reads the keychain", program: "secret-tool", apt: "libsecret-tools", pacman: "libsecret" },
  { what: "a tool that counts instructions", program: "valgrind", apt: "valgrind", pacman: "valgrind" },
  { what: "Python, for test servers", program: "python3", apt: "python3", pacman: "python" },
  // Debian has this part of Python in a separate package.
  { what: "its virtual environments", module: "ensurepip", apt: "python3-venv", pacman: "python", rpm: ["python3"] },
];

/** To take screenshots of the tray menu in a panel. */
export const forThePictures = [
  { what: "a virtual display", program: "Xvfb", apt: "xvfb", pacman: "xorg-server-xvfb" },
  { what: "its access control", program: "xauth", apt: "xauth", pacman: "xorg-xauth" },
  { what: "a session bus", program: "dbus-run-session", apt: "dbus", pacman: "dbus" },
  { what: "a panel", program: "xfce4-panel", apt: "xfce4-panel", pacman: "xfce4-panel" },
  { what: "its settings", program: "xfconf-query", apt: "xfconf", pacman: "xfconf" },
  { what: "a tool that moves the mouse", program: "xdotool", apt: "xdotool", pacman: "xdotool" },
  { what: "screenshots", program: "import", apt: "imagemagick", pacman: "imagemagick" },
];

const managers = [
  {
    program: "apt-get",
    names: (need) => [need.apt],
    refresh: ["update", "-qq"],
    install: ["install", "-y", "-qq", "--no-install-recommends"],
  },
  { program: "dnf", names: rpmNames, install: ["install", "-y", "--setopt=install_weak_deps=False"] },
  { program: "zypper", names: rpmNames, install: ["--non-interactive", "install", "--no-recommends"] },
  { program: "pacman", names: (need) => [need.pacman], install: ["-S", "--needed", "--noconfirm"] },
];

/** The first package manager for which `has(program)` is true. */
export function chooseManager(has) {
  return managers.find(({ program }) => has(program));
}

/** The needs that are not met. Checks a library with pkg-config and a module with Python, if they are installed. */
export function missing(needs, hasProgram, hasLibrary, hasModule) {
  return needs.filter(({ program, library, module }) => {
    if (program) return !hasProgram(program);
    if (library) return !hasProgram("pkg-config") || !hasLibrary(library);
    return !hasProgram("python3") || !hasModule(module);
  });
}

/** The commands that install `needs`, for root or through sudo. */
export function installCommands(manager, needs, isRoot) {
  const packages = [...new Set(needs.flatMap(manager.names))];
  const lines = manager.refresh ? [manager.refresh] : [];
  lines.push([...manager.install, ...packages]);
  // Debian packages may prompt, and sudo drops the variable that prevents it.
  const lead = manager.program === "apt-get" ? ["env", "DEBIAN_FRONTEND=noninteractive"] : [];
  return lines.map((line) => [...(isRoot ? [] : ["sudo"]), ...lead, manager.program, ...line]);
}

// rpm packages declare the programs and pkg-config modules they provide, with the same names in all distributions.
function rpmNames({ rpm, program, library }) {
  return rpm || [program ? `/usr/bin/${program}` : `pkgconfig(${library})`];
}
