// Chooses the connection to the gateway, and mounts the dashboard.

import { mount } from 'svelte'

import App from './App.svelte'
import './styles/base.css'
import './styles/controls.css'
import { BrowserGateway } from './lib/gateway/browser'
import { ShellGateway } from './lib/gateway/tauri'
import { Store } from './lib/state/store.svelte'

const inShell = '__TAURI_INTERNALS__' in window
const store = new Store(inShell ? new ShellGateway() : new BrowserGateway())
store.start()

const target = document.getElementById('app')
if (target) mount(App, { target, props: { store } })
